import type { JsonObject } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { checkJsonLimits } from '../../platform/json/index.js';
import { ANSWER_LIMITS, MAX_STRING } from '../limits.js';
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

/** What becomes of a text that people and models read. */
export type CleanText = (text: string) => string;

const asItIs: CleanText = (text) => text;

/**
 * Of an http handler. Nothing at all is no output.
 * @param clean is given each text whole, before it is cut: what a cut goes through is not found any more. The arguments that
 * are put in place of a call's are a tool's alone and stay as they are
 * @throws MalformedOutput
 */
export function readOutput(text: string, clean: CleanText = asItIs): HookOutput {
  if (text.trim() === '') return NOTHING_SAID;
  const output = objectIn('The answer', parsed(text)) ?? malformed('The answer is not a JSON object.');
  const specific = objectIn('hookSpecificOutput', output['hookSpecificOutput']) ?? {};
  const textIn = (name: string, value: unknown): string | undefined => {
    const said = stringIn(name, value);
    return said === undefined ? undefined : cutTo(clean(said), MAX_STRING);
  };
  stringIn('hookSpecificOutput.hookEventName', specific['hookEventName']);
  const contexts = [
    textIn('hookSpecificOutput.additionalContext', specific['additionalContext']),
    textIn('additionalContext', output['additionalContext']),
  ];
  const updatedInput = objectIn('hookSpecificOutput.updatedInput', specific['updatedInput']);
  return present({
    decision: oneOf('decision', output['decision'], ['block']),
    reason: textIn('reason', output['reason']),
    additionalContext: distinct(contexts),
    permissionDecision: oneOf(
      'hookSpecificOutput.permissionDecision',
      specific['permissionDecision'],
      PERMISSION_DECISIONS,
    ),
    permissionDecisionReason: textIn(
      'hookSpecificOutput.permissionDecisionReason',
      specific['permissionDecisionReason'],
    ),
    updatedInput: updatedInput && (withCutStrings(updatedInput) as JsonObject),
  });
}

/** What begins like an object is meant as one, and so is an array that is whole; many texts begin with a bracket. */
function looksLikeJson(text: string): boolean {
  if (/^\s*\{/.test(text)) return true;
  return /^\s*\[/.test(text) && isJson(text);
}

function isJson(text: string): boolean {
  try {
    checkJsonLimits(text, ANSWER_LIMITS);
    JSON.parse(text.replace(/^\ufeff/, ''));
    return true;
  } catch (error) {
    // Too much of it to be looked at is no sentence.
    return error instanceof ValidationFailed;
  }
}

/** What it would take to build is known before it is built: a megabyte of small objects stalls everything else. */
function parsed(answer: string): unknown {
  // Many servers write a byte order mark, which is no JSON.
  const text = answer.replace(/^\ufeff/, '');
  try {
    checkJsonLimits(text, { place: 'The answer', ...ANSWER_LIMITS });
    return JSON.parse(text) as unknown;
  } catch (error) {
    return malformed(error instanceof ValidationFailed ? `${error.message}.` : 'The answer is not valid JSON.');
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
  if (typeof value === 'string') return value;
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

/** With every string cut. How deep it is has been seen before it was read. */
function withCutStrings(value: unknown): unknown {
  if (typeof value === 'string') return cutTo(value, MAX_STRING);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withCutStrings);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withCutStrings(item)]));
}

function present(output: { readonly [Name in keyof HookOutput]: HookOutput[Name] | undefined }): HookOutput {
  const said = Object.entries<unknown>(output).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said);
}

function malformed(message: string): never {
  throw new MalformedOutput(message);
}
