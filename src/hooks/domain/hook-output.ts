import type { JsonObject } from '../../models/index.js';
import { MAX_STRING, MAX_UPDATED_INPUT_DEPTH } from '../limits.js';
import { cutTo } from './text.js';

export const PERMISSION_DECISIONS = ['allow', 'deny', 'ask'] as const;
export type PermissionDecision = (typeof PERMISSION_DECISIONS)[number];

/** What a handler has said, as far as it is understood; strings are of bounded length. Contract, section 8. */
export interface HookOutput {
  readonly decision?: 'block';
  readonly reason?: string;
  /** In the order in which it was said; none is empty. */
  readonly additionalContext?: readonly string[];
  readonly permissionDecision?: PermissionDecision;
  readonly permissionDecisionReason?: string;
  readonly updatedInput?: JsonObject;
}

/** What a handler has answered is no output; the message is public. */
export class MalformedOutput extends Error {}

const NOTHING_SAID: HookOutput = {};

/** Of a tool: text that looks like JSON is output, any other is context. @throws MalformedOutput */
export function readToolOutput(text: string): HookOutput {
  if (text.trim() === '') return NOTHING_SAID;
  if (looksLikeJson(text)) return readOutput(text);
  return { additionalContext: [cutTo(text, MAX_STRING)] };
}

/** Of an http handler. Nothing at all is no output. @throws MalformedOutput */
export function readOutput(text: string): HookOutput {
  if (text.trim() === '') return NOTHING_SAID;
  const output = objectIn('The answer', parsed(text)) ?? malformed('The answer is not a JSON object.');
  const specific = objectIn('hookSpecificOutput', output['hookSpecificOutput']) ?? {};
  stringIn('hookSpecificOutput.hookEventName', specific['hookEventName']);
  const contexts = [
    stringIn('hookSpecificOutput.additionalContext', specific['additionalContext']),
    stringIn('additionalContext', output['additionalContext']),
  ];
  const updatedInput = objectIn('hookSpecificOutput.updatedInput', specific['updatedInput']);
  return present({
    decision: oneOf('decision', output['decision'], ['block']),
    reason: stringIn('reason', output['reason']),
    additionalContext: distinct(contexts),
    permissionDecision: oneOf('hookSpecificOutput.permissionDecision', specific['permissionDecision'], PERMISSION_DECISIONS),
    permissionDecisionReason: stringIn('hookSpecificOutput.permissionDecisionReason', specific['permissionDecisionReason']),
    updatedInput: updatedInput && boundedInput(updatedInput),
  });
}

/** What begins like an object is meant as one, and so is an array that is whole; many texts begin with a bracket. */
function looksLikeJson(text: string): boolean {
  if (/^\s*\{/.test(text)) return true;
  return /^\s*\[/.test(text) && isJson(text);
}

function isJson(text: string): boolean {
  try {
    parsed(text);
    return true;
  } catch {
    return false;
  }
}

function parsed(text: string): unknown {
  try {
    // Many servers write a byte order mark, which is no JSON.
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch {
    return malformed('The answer is not valid JSON.');
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Null is as good as absent: many servers write what they do not say so. */
function objectIn(name: string, value: unknown): Fields | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object' && !Array.isArray(value)) return value as Fields;
  return malformed(`${name} is not ${name.startsWith('The') ? 'a JSON' : 'an'} object.`);
}

function stringIn(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return cutTo(value, MAX_STRING);
  return malformed(`${name} is not a string.`);
}

function oneOf<const Value extends string>(name: string, value: unknown, allowed: readonly Value[]): Value | undefined {
  if (value === undefined || value === null) return undefined;
  const known = allowed.find((candidate) => candidate === value);
  return known ?? malformed(`${name} is not ${allowed.map((candidate) => `"${candidate}"`).join(', ')}.`);
}

/** Both places may say the same. */
function distinct(contexts: readonly (string | undefined)[]): readonly string[] | undefined {
  const said = [...new Set(contexts.filter((context) => context !== undefined).filter((context) => context !== ''))];
  return said.length === 0 ? undefined : said;
}

/** With every string cut; deeper values would break whatever reads them again. */
function boundedInput(input: Fields): JsonObject {
  return bounded(input, MAX_UPDATED_INPUT_DEPTH) as JsonObject;
}

function bounded(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return cutTo(value, MAX_STRING);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return malformed(`hookSpecificOutput.updatedInput is nested more than ${MAX_UPDATED_INPUT_DEPTH} levels deep.`);
  if (Array.isArray(value)) return value.map((item: unknown) => bounded(item, levels - 1));
  // Assigned one by one, such a name would become the object's prototype.
  const entries = Object.entries(value).filter(([name]) => name !== '__proto__');
  return Object.fromEntries(entries.map(([name, item]) => [name, bounded(item, levels - 1)]));
}

function present(output: { readonly [Name in keyof HookOutput]: HookOutput[Name] | undefined }): HookOutput {
  const said = Object.entries<unknown>(output).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said);
}

function malformed(message: string): never {
  throw new MalformedOutput(message);
}
