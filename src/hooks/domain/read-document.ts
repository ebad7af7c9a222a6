import { z } from 'zod';
import { isConnectionHeader, isHeaderFieldValue, isHeaderName, repeatedHeader } from '../../platform/egress/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { shown } from '../../platform/json/index.js';
import {
  MAX_HANDLERS,
  MAX_HEADERS,
  MAX_INPUT_CHARACTERS,
  MAX_INPUT_VALUES,
  MAX_STRING,
  MAX_TIMEOUT_SECONDS,
} from '../limits.js';
import { EVENT_RULES, HOOK_EVENTS, type HookEvent } from './hook-event.js';
import { allHandlers, type Handler, type HooksDocument, REDACTED } from './hooks-document.js';
import { headersIn, type HooksWithHeaders } from './header-values.js';
import { isLongerThan } from './text.js';

/** @returns why the URL cannot be requested, as a sentence; undefined when it can */
export type UrlCheck = (url: string) => string | undefined;

/** Headers that the service sets. Service document, "Handler types". */
const OWN_HEADERS = new Set(['content-type', 'x-hook-event']);
/** RFC 3986. URL parsers also accept backslashes, tabs and other scripts, and interpret them differently. */
const URI = /^https?:\/\/(?:[\w.~!$&'()*+,;=:@[\]-]|%[\da-f]{2})+(?:[/?#](?:[\w.~!$&'()*+,;=:@/?#-]|%[\da-f]{2})*)?$/i;

/** The message of a schema; it follows the path of the fault. */
const message = (text: string) => ({
  error: ({ input }: { readonly input?: unknown }) => (input === undefined ? 'is required' : text),
});

function object<Shape extends z.core.$ZodShape>(shape: Shape, names = 'fields'): z.ZodObject<Shape, z.core.$strict> {
  const { error } = message('must be an object');
  const known = `is not allowed: the ${names} are ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? known : error(issue)) });
}

/** The length is that of Unicode code points. A longer text is not read further. */
function text(min: 0 | 1) {
  const range = message(`must be a string of ${min === 0 ? 'at most' : `${min} to`} ${MAX_STRING} characters`);
  const isInRange = (value: string): boolean => value.length >= min && !isLongerThan(value, MAX_STRING);
  return z
    .string(range)
    .refine(isInRange, { ...range, abort: true })
    .meta({ ...(min > 0 && { minLength: min }), maxLength: MAX_STRING });
}

const TIMEOUT = message(`must be an integer from 1 to ${MAX_TIMEOUT_SECONDS}, in seconds`);

const settings = {
  timeout: z
    .int(TIMEOUT)
    .min(1, TIMEOUT)
    .max(MAX_TIMEOUT_SECONDS, TIMEOUT)
    .optional()
    .meta({
      description:
        `In seconds, from the connection to the end of the response. By default ${EVENT_RULES.SessionStart.timeoutSeconds} for SessionStart and ` +
        `${EVENT_RULES.Stop.timeoutSeconds} for the others.`,
    }),
  failClosed: z.boolean(message('must be a boolean')).optional().meta({
    description: 'A failure blocks. Allowed on UserPromptSubmit and PreToolUse; the other events always fail open.',
  }),
};

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Not `z.record`, which reads all values, however many there are: a second for those of a body of four megabytes. */
const jsonObject = z.unknown().refine(isObject, { ...message('must be an object'), abort: true });

const headerValue = text(1);

const headers = jsonObject
  .superRefine((value, context) => {
    const refuse = (path: string[], what: string): void => context.addIssue({ code: 'custom', path, message: what });
    const sent = value as Readonly<Record<string, unknown>>;
    const names = Object.keys(sent);
    if (names.length > MAX_HEADERS) return refuse([], `must have at most ${MAX_HEADERS} entries`);
    for (const name of names) {
      const fault = headerFault(name, sent[name]);
      if (fault !== undefined) refuse([name], fault);
    }
    const repeated = repeatedHeader(names);
    if (repeated !== undefined) refuse([repeated], 'must not occur twice: names of headers are case-insensitive');
  })
  .meta({
    type: 'object',
    maxProperties: MAX_HEADERS,
    additionalProperties: { type: 'string', minLength: 1, maxLength: MAX_STRING },
    description:
      'Sent with each call. Values are stored encrypted and read as `<redacted>`; `<redacted>` in a request keeps the value that ' +
      'is stored for this URL and name. content-type, content-length, host, x-hook-event and connection headers are refused.',
  });

const httpHandler = object({
  type: z.literal('http').meta({
    description: 'The service posts the input of the hook to a URL; the JSON response is the output.',
  }),
  url: text(1)
    .refine(
      (url) => URI.test(url),
      message('must be an http or https URL: other characters percent-encoded, an international name in Punycode'),
    )
    .meta({
      format: 'uri',
      description:
        'An https URL without user information. It must not lead to a private address; the service checks that at each call.',
    }),
  headers: headers.optional(),
  ...settings,
});

const toolHandler = object({
  type: z.literal('mcp_tool').meta({
    description:
      'The service calls a tool. A result that looks like JSON is the output; any other text is additional context.',
  }),
  server: text(1).describe("The app of one of the agent's custom-mcp integrations."),
  tool: text(1).describe("The server's own name of the tool; it may be one that the model is not offered."),
  input: jsonObject.optional().meta({
    type: 'object',
    additionalProperties: true,
    description:
      'Strings may refer to fields of the input, as in `${tool_input.path}`. A value that is exactly one placeholder keeps its type; ' +
      'a key whose placeholder names an absent field is dropped, as is a key that the tool does not declare. All inputs of a document together ' +
      `have at most ${MAX_INPUT_VALUES} values and ${MAX_INPUT_CHARACTERS} characters.`,
  }),
  ...settings,
});

const HANDLERS = message('must be an array of at least 1 handler');

const group = object({
  matcher: text(0)
    .optional()
    .describe(
      'An absent or empty matcher and `*` match everything; letters, digits, `_`, `-` and `|` alone are a list of exact names; anything else is ' +
        'an unanchored regular expression in the syntax of RE2. SessionStart compares it with `startup`, PreToolUse and PostToolUse with the ' +
        "tool's name as the model sees it; UserPromptSubmit and Stop ignore it.",
    ),
  hooks: z
    .array(
      z
        .discriminatedUnion('type', [httpHandler, toolHandler], {
          error: ({ code }: { readonly code?: string }) =>
            code === 'invalid_union' ? 'must be one of http, mcp_tool' : 'must be an object',
        })
        .meta({ discriminator: { propertyName: 'type' } }),
      HANDLERS,
    )
    .min(1, HANDLERS)
    .meta({ maxItems: MAX_HANDLERS, description: 'The handlers, which run in parallel.' }),
});

const groups = z
  .array(group, message('must be an array of matcher groups'))
  .meta({ description: `At most ${MAX_HANDLERS} handlers over all groups.` })
  .optional();

const requestedDocument = object(
  Object.fromEntries(HOOK_EVENTS.map((event) => [event, groups])) as Record<HookEvent, typeof groups>,
  'events',
);

/** Of a hooks document in requests and responses, for the OpenAPI document. */
export const HOOKS_DOCUMENT_SCHEMA: object = z.toJSONSchema(requestedDocument, { target: 'openapi-3.0' });

/**
 * Validates the document of a request and separates the header values from it. `ChangeHooks` checks the matchers, the servers
 * and the redacted values.
 * @throws ValidationFailed naming the path, such as `hooks.PreToolUse[0].hooks[1].url`
 */
export function readDocument(value: unknown, urlCheck: UrlCheck): HooksWithHeaders {
  requireFewHandlers(value);
  const read = requestedDocument.safeParse(value);
  if (!read.success) return refuseIssue(read.error.issues[0]);
  // The document itself and not what the schema returns, which has another order.
  const sent = value as HooksDocument;
  const inputs = new InputBudget();
  for (const { event, handler, path } of allHandlers(sent)) {
    if (handler.failClosed !== undefined && !EVENT_RULES[event].canFailClosed) {
      const able = HOOK_EVENTS.filter((name) => EVENT_RULES[name].canFailClosed).join(' and ');
      refuse(`${path}.failClosed`, `is not allowed: ${event} always fails open, only ${able} can fail closed`);
    }
    const urlFault = handler.type === 'http' ? urlCheck(handler.url) : undefined;
    if (urlFault !== undefined) refuse(`${path}.url`, `cannot be called: ${urlFault}`);
    if (handler.type !== 'mcp_tool' || !handler.input) continue;
    inputs.take(`${path}.input`, handler.input);
    requireShortStrings(`${path}.input`, handler.input);
  }
  return { document: mapHandlers(sent, redacted), headers: headersIn(sent) };
}

/** Before handlers are read: a request may have a million of them. A group counts as at least one. */
function requireFewHandlers(value: unknown): void {
  for (const event of HOOK_EVENTS) {
    const sent = (value as Partial<Record<HookEvent, unknown>> | null | undefined)?.[event];
    if (!Array.isArray(sent)) continue;
    const handlers = sent.map((each) => (each as { readonly hooks?: unknown } | null)?.hooks);
    const count = handlers.reduce<number>((sum, each) => sum + (Array.isArray(each) ? Math.max(1, each.length) : 1), 0);
    if (count > MAX_HANDLERS)
      refuse(`hooks.${event}`, `must have at most ${MAX_HANDLERS} handlers over all its groups, and has ${count}`);
  }
}

function headerFault(name: string, value: unknown): string | undefined {
  if (isLongerThan(name, MAX_STRING) || !isHeaderName(name)) return 'is not a valid name of an HTTP header';
  if (OWN_HEADERS.has(name.toLowerCase()) || isConnectionHeader(name)) return 'is a header that cannot be set';
  const { error } = headerValue.safeParse(value);
  if (error) return error.issues[0]?.message;
  return value === REDACTED || isHeaderFieldValue(value as string)
    ? undefined
    : 'must be a string that an HTTP header can carry';
}

/** Limits all inputs of a document together. */
class InputBudget {
  private values = MAX_INPUT_VALUES;
  private characters = MAX_INPUT_CHARACTERS;

  /** Recursive: the parser of the request's body has bounded the depth. @param path of the input */
  take(path: string, value: unknown): void {
    this.values -= 1;
    if (typeof value === 'string') this.characters -= value.length;
    else if (Array.isArray(value)) for (const item of value) this.take(path, item);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        this.characters -= name.length;
        this.take(path, item);
      }
    }
    if (this.values < 0)
      refuse(path, `must not have more than ${MAX_INPUT_VALUES} values, all inputs of the document together`);
    if (this.characters < 0)
      refuse(path, `must not have more than ${MAX_INPUT_CHARACTERS} characters, all inputs of the document together`);
  }
}

/** Recursive: the parser of the request's body has bounded the depth. */
function requireShortStrings(path: string, value: unknown): void {
  if (typeof value === 'string' && isLongerThan(value, MAX_STRING))
    refuse(path, `must be a string of at most ${MAX_STRING} characters`);
  if (Array.isArray(value)) for (const [index, item] of value.entries()) requireShortStrings(`${path}[${index}]`, item);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      if (isLongerThan(name, MAX_STRING))
        refuse(path, `must not have a field whose name is longer than ${MAX_STRING} characters`);
      requireShortStrings(`${path}.${shown(name)}`, item);
    }
  }
}

function refuseIssue(issue: z.core.$ZodIssue | undefined): never {
  const key = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const path = [...(issue?.path ?? []), ...key].map((part) =>
    typeof part === 'number' ? `[${part}]` : `.${shown(String(part))}`,
  );
  return refuse(`hooks${path.join('')}`, issue?.message ?? 'is invalid');
}

function refuse(path: string, what: string): never {
  throw new ValidationFailed(`${path} ${what}`);
}

function redacted(handler: Handler): Handler {
  if (handler.type !== 'http' || !handler.headers) return handler;
  return { ...handler, headers: Object.fromEntries(Object.keys(handler.headers).map((name) => [name, REDACTED])) };
}

function mapHandlers(document: HooksDocument, change: (handler: Handler) => Handler): HooksDocument {
  const events = Object.entries(document).map(([event, groups]) => [
    event,
    groups.map((group) => ({ ...group, hooks: group.hooks.map(change) })),
  ]);
  return Object.fromEntries(events) as HooksDocument;
}
