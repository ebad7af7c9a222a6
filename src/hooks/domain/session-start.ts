import { z } from 'zod';
import { DomainError, ValidationFailed } from '../../platform/errors/index.js';
import { checkJsonLimits } from '../../platform/json/index.js';
import { type Stored, storedObject } from '../../platform/stored-json/index.js';
import { MAX_SESSION_CONTEXT_CHARACTERS, MAX_SESSION_CONTEXTS, MAX_STRING, OUTPUT_LIMITS } from '../limits.js';
import { HandlerFailed } from './hook-output.js';
import { cutTo } from './text.js';

/** A tool that is called once at the start of a thread. Service document, "Session-start hook". */
export const sessionStartHook = storedObject({
  /** Of the custom-mcp integration whose server has the tool. */
  app: z.string(),
  /** The server's own name of the tool. */
  toolName: z.string(),
  timeoutMs: z.number().optional(),
  /** Those that the tool declares are passed. */
  staticArgs: z.record(z.string(), z.string()).optional(),
});
export type SessionStartHook = Stored<typeof sessionStartHook>;

const storedContext = z.object({ name: z.string(), context: z.string() });
export type NamedContext = Stored<typeof storedContext>;

/** The outcome of the session-start hook of a thread, as every trace of the thread shows it. */
const sessionStartOutcome = z.object({
  /** ISO 8601. */
  fetchedAt: z.string(),
  /** `degraded`: the hook failed, and the thread has no contexts. */
  status: z.enum(['ok', 'degraded']),
  contexts: z.array(storedContext).default([]),
});
export type SessionStartOutcome = Stored<typeof sessionStartOutcome>;

/** The contexts that the start of a thread produced. They do not change afterwards. */
export const threadSession = z.object({
  /** Of the `SessionStart` handlers, in their order. */
  additionalContext: z.array(z.string()).default([]),
  /** Null when the agent had no session-start hook. */
  hook: sessionStartOutcome.nullable().default(null),
});
export type ThreadSession = Stored<typeof threadSession>;

export class SessionStartHookNotFound extends DomainError {
  constructor() {
    super('not_found', 'The agent has no session-start hook.');
  }
}

const CONTEXT = 'A context that the tool returned is not an object of a name and a context, both strings.';
const toolResult = z.object({
  contexts: z.array(
    z.object({ name: z.string(CONTEXT), context: z.string(CONTEXT) }, CONTEXT),
    'The contexts that the tool returned are not an array.',
  ),
});

/** The tool's result is not a list of contexts. */
export class MalformedContexts extends HandlerFailed {}

/** Reads `{contexts: [{name, context}]}`, or other text as one context named after the tool. Contract, section 8. @throws MalformedContexts */
export function parseContexts(text: string, toolName: string): readonly NamedContext[] {
  if (text.trim() === '') return [];
  const contexts = givenContexts(text) ?? [{ name: toolName, context: cutTo(text, MAX_STRING) }];
  const characters = contexts.reduce((sum, { name, context }) => sum + name.length + context.length, 0);
  if (contexts.length <= MAX_SESSION_CONTEXTS && characters <= MAX_SESSION_CONTEXT_CHARACTERS) return contexts;
  throw new MalformedContexts(
    `The tool returned more than ${MAX_SESSION_CONTEXTS} contexts, or contexts of more than ${MAX_SESSION_CONTEXT_CHARACTERS} characters together.`,
  );
}

export function promptParts({ additionalContext, hook }: ThreadSession): string[] {
  return [...(hook?.contexts ?? []).map(promptPart), ...additionalContext];
}

function promptPart({ name, context }: NamedContext): string {
  return name === '' ? context : `## ${name}\n\n${context}`;
}

/** Undefined when the text is not a JSON object with `contexts`. */
function givenContexts(text: string): readonly NamedContext[] | undefined {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'contexts')) return undefined;
  const { data, error } = toolResult.safeParse(value);
  if (error) throw new MalformedContexts(error.issues[0]?.message);
  return data.contexts.map(({ name, context }) => ({
    name: cutTo(name, MAX_STRING),
    context: cutTo(context, MAX_STRING),
  }));
}

/** Limits are checked before parsing, which could block the event loop. Undefined for text that is not JSON. */
function parsed(text: string): unknown {
  try {
    checkJsonLimits(text, { place: "The tool's result", ...OUTPUT_LIMITS });
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof ValidationFailed && /^\s*\{/.test(text)) throw new MalformedContexts(`${error.message}.`);
    return undefined;
  }
}
