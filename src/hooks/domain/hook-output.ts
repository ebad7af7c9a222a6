import type { JsonObject } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { checkJsonLimits } from '../../platform/json/index.js';
import { MAX_STRING, OUTPUT_LIMITS } from '../limits.js';
import { cutTo } from './text.js';

export const PERMISSION_DECISIONS = ['allow', 'deny', 'ask'] as const;
export type PermissionDecision = (typeof PERMISSION_DECISIONS)[number];

/** A handler's output without unknown fields, and with strings cut to their limit. Contract, section 8. */
export interface HookOutput {
  readonly decision?: 'block';
  readonly reason?: string;
  /** No text is empty. */
  readonly additionalContext?: readonly string[];
  readonly permissionDecision?: PermissionDecision;
  readonly permissionDecisionReason?: string;
  readonly updatedInput?: JsonObject;
}

/** The handler's response is not a hook output. The message is public. */
export class MalformedOutput extends Error {}

const EMPTY_OUTPUT: HookOutput = {};

/** Reads a tool's result: text that looks like JSON as an output, other text as context. @throws MalformedOutput */
export function readToolOutput(text: string): HookOutput {
  if (text.trim() === '') return EMPTY_OUTPUT;
  if (looksLikeJson(text)) return readOutput(text);
  return { additionalContext: [cutTo(text, MAX_STRING)] };
}

/** Removes secrets from a text that people and models read. */
export type CleanText = (text: string) => string;

const unchanged: CleanText = (text) => text;

/**
 * Reads the response of an http handler. An empty response is an empty output.
 * @param clean applied to each text before it is cut, because a secret that the cut splits would not be found. Not applied to
 *   `updatedInput`, which only the tool reads
 * @throws MalformedOutput
 */
export function readOutput(text: string, clean: CleanText = unchanged): HookOutput {
  if (text.trim() === '') return EMPTY_OUTPUT;
  const output = objectIn('The response', parsed(text)) ?? malformed('The response is not a JSON object.');
  const specific = objectIn('hookSpecificOutput', output['hookSpecificOutput']) ?? {};
  const textIn = (name: string, value: unknown): string | undefined => {
    const text = stringIn(name, value);
    return text === undefined ? undefined : cutTo(clean(text), MAX_STRING);
  };
  stringIn('hookSpecificOutput.hookEventName', specific['hookEventName']);
  const contexts = [
    textIn('hookSpecificOutput.additionalContext', specific['additionalContext']),
    textIn('additionalContext', output['additionalContext']),
  ];
  const updatedInput = objectIn('hookSpecificOutput.updatedInput', specific['updatedInput']);
  return withoutUndefined({
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

/** A text that begins with `{` is meant as an object. A text that begins with `[` must be valid JSON: many sentences begin so. */
function looksLikeJson(text: string): boolean {
  if (/^\s*\{/.test(text)) return true;
  return /^\s*\[/.test(text) && isJson(text);
}

function isJson(text: string): boolean {
  try {
    checkJsonLimits(text, OUTPUT_LIMITS);
    JSON.parse(text.replace(/^\ufeff/, ''));
    return true;
  } catch (error) {
    // Beyond the limits it is JSON, but too large to be an output.
    return error instanceof ValidationFailed;
  }
}

/** Limits are checked before parsing: a megabyte of small objects would block the event loop. */
function parsed(response: string): unknown {
  // Many servers write a byte order mark, which JSON does not allow.
  const text = response.replace(/^\ufeff/, '');
  try {
    checkJsonLimits(text, { place: 'The response', ...OUTPUT_LIMITS });
    return JSON.parse(text) as unknown;
  } catch (error) {
    return malformed(error instanceof ValidationFailed ? `${error.message}.` : 'The response is not valid JSON.');
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Null counts as absent, because many servers write absent fields as null. */
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

/** Without repetitions, because both fields may have the same text. */
function distinct(contexts: readonly (string | undefined)[]): readonly string[] | undefined {
  const texts = [...new Set(contexts.filter((context) => context !== undefined).filter((context) => context !== ''))];
  return texts.length === 0 ? undefined : texts;
}

/** Recursive: `checkJsonLimits` has bounded the depth. */
function withCutStrings(value: unknown): unknown {
  if (typeof value === 'string') return cutTo(value, MAX_STRING);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withCutStrings);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withCutStrings(item)]));
}

function withoutUndefined(output: { readonly [Name in keyof HookOutput]: HookOutput[Name] | undefined }): HookOutput {
  return Object.fromEntries(Object.entries<unknown>(output).filter(([, value]) => value !== undefined));
}

function malformed(message: string): never {
  throw new MalformedOutput(message);
}
