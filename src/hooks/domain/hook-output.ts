import { z } from 'zod';
import type { JsonObject } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { checkJsonLimits } from '../../platform/json/index.js';
import { MAX_STRING, OUTPUT_LIMITS } from '../limits.js';
import { cutTo } from './text.js';

/** A handler's output without unknown fields, and with strings cut to their limit. Contract, section 8. */
export interface HookOutput {
  readonly decision?: 'block';
  readonly reason?: string;
  /** No text is empty. */
  readonly additionalContext?: readonly string[];
  readonly permissionDecision?: 'allow' | 'deny' | 'ask';
  readonly permissionDecisionReason?: string;
  readonly updatedInput?: JsonObject;
}

/** A call of a hook has failed. The message is public. */
export class HandlerFailed extends Error {}

/** The handler's response is not a hook output. */
export class MalformedOutput extends HandlerFailed {}

const EMPTY_OUTPUT: HookOutput = {};

/** Null counts as absent, because many servers write absent fields as null. */
const text = z.string('is not a string').nullish();
const PERMISSIONS = ['allow', 'deny', 'ask'] as const;

const response = z.object(
  {
    decision: z.literal('block', 'is not "block"').nullish(),
    reason: text,
    additionalContext: text,
    hookSpecificOutput: z
      .object(
        {
          hookEventName: text,
          additionalContext: text,
          permissionDecision: z.enum(PERMISSIONS, 'is not "allow", "deny", "ask"').nullish(),
          permissionDecisionReason: text,
          updatedInput: z.record(z.string(), z.unknown(), 'is not an object').nullish(),
        },
        'is not an object',
      )
      .nullish(),
  },
  'is not a JSON object',
);

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
  const { decision, reason, additionalContext, hookSpecificOutput } = parsed(text);
  const { permissionDecision, permissionDecisionReason, updatedInput, ...specific } = hookSpecificOutput ?? {};
  const cleaned = (given: string | null | undefined) =>
    typeof given === 'string' ? cutTo(clean(given), MAX_STRING) : undefined;
  return withoutUndefined({
    decision: decision ?? undefined,
    reason: cleaned(reason),
    additionalContext: distinct([cleaned(specific.additionalContext), cleaned(additionalContext)]),
    permissionDecision: permissionDecision ?? undefined,
    permissionDecisionReason: cleaned(permissionDecisionReason),
    updatedInput: updatedInput ? (withCutStrings(updatedInput) as JsonObject) : undefined,
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
function parsed(given: string): z.output<typeof response> {
  // Many servers write a byte order mark, which JSON does not allow.
  const json = given.replace(/^\ufeff/, '');
  let value: unknown;
  try {
    checkJsonLimits(json, { place: 'The response', ...OUTPUT_LIMITS });
    value = JSON.parse(json);
  } catch (error) {
    throw new MalformedOutput(
      error instanceof ValidationFailed ? `${error.message}.` : 'The response is not valid JSON.',
    );
  }
  const { data, error } = response.safeParse(value);
  if (data) return data;
  const field = error.issues[0]?.path.join('.') ?? '';
  throw new MalformedOutput(`${field === '' ? 'The response' : field} ${error.issues[0]?.message ?? 'is malformed'}.`);
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
