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
import { EVENT_RULES, HOOK_EVENTS, type HookEvent, isHookEvent } from './hook-event.js';
import {
  type Handler,
  type HooksDocument,
  type HttpHandler,
  type MatcherGroup,
  REDACTED,
  type ToolHandler,
} from './hooks-document.js';
import { headersIn, type HooksWithHeaders } from './header-values.js';
import { isLongerThan } from './text.js';

/** @returns why the URL cannot be requested, as a sentence; undefined when it can */
export type UrlCheck = (url: string) => string | undefined;

type Fields = Readonly<Record<string, unknown>>;

interface Checks {
  readonly urlCheck: UrlCheck;
  readonly inputs: InputBudget;
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

const HANDLER_TYPES = ['http', 'mcp_tool'] as const satisfies readonly Handler['type'][];
const COMMON_FIELDS = ['type', 'timeout', 'failClosed'];
/** Headers that the service sets. Service document, "Handler types". */
const OWN_HEADERS = new Set(['content-type', 'x-hook-event']);
/** RFC 3986. URL parsers also accept backslashes, tabs and other scripts, and interpret them differently. */
const URI = /^https?:\/\/(?:[\w.~!$&'()*+,;=:@[\]-]|%[\da-f]{2})+(?:[/?#](?:[\w.~!$&'()*+,;=:@/?#-]|%[\da-f]{2})*)?$/i;

/**
 * Validates the document of a request and separates the header values from it. `ChangeHooks` checks the matchers, the servers
 * and the redacted values.
 * @throws ValidationFailed naming the path, such as `hooks.PreToolUse[0].hooks[1].url`
 */
export function readDocument(value: unknown, urlCheck: UrlCheck): HooksWithHeaders {
  const events = objectAt('hooks', value);
  const unknown = Object.keys(events).find((name) => !isHookEvent(name));
  if (unknown !== undefined)
    refuse(`hooks.${shown(unknown)}`, `is not allowed: the events are ${HOOK_EVENTS.join(', ')}`);
  const checks = { urlCheck, inputs: new InputBudget() };
  const read = Object.keys(events)
    .filter(isHookEvent)
    .map((event) => [event, groupsAt(event, events[event], checks)] as const);
  const sent: HooksDocument = Object.fromEntries(read);
  return { document: mapHandlers(sent, redacted), headers: headersIn(sent) };
}

function groupsAt(event: HookEvent, value: unknown, checks: Checks): MatcherGroup[] {
  const path = `hooks.${event}`;
  if (!Array.isArray(value)) return refuse(path, 'must be an array of matcher groups');
  // Each group has at least one handler, so a million groups are refused without reading them.
  if (value.length > MAX_HANDLERS) return refuse(path, `must have at most ${MAX_HANDLERS} handlers`);
  const groups = value.map((group: unknown, index) => groupAt(event, `${path}[${index}]`, group, checks));
  const handlers = groups.reduce((count, { hooks }) => count + hooks.length, 0);
  if (handlers > MAX_HANDLERS)
    refuse(path, `must have at most ${MAX_HANDLERS} handlers over all its groups, and has ${handlers}`);
  return groups;
}

function groupAt(event: HookEvent, path: string, value: unknown, checks: Checks): MatcherGroup {
  const group = objectAt(path, value);
  requireKnown(path, group, ['matcher', 'hooks']);
  const { matcher, hooks } = group;
  if (!Array.isArray(hooks) || hooks.length === 0)
    return refuse(`${path}.hooks`, 'must be an array of at least 1 handler');
  if (hooks.length > MAX_HANDLERS) return refuse(`hooks.${event}`, `must have at most ${MAX_HANDLERS} handlers`);
  return {
    ...(matcher === undefined ? {} : { matcher: stringAt(`${path}.matcher`, matcher, 0) }),
    hooks: hooks.map((handler: unknown, index) => handlerAt(event, `${path}.hooks[${index}]`, handler, checks)),
  };
}

function handlerAt(event: HookEvent, path: string, value: unknown, checks: Checks): Handler {
  const handler = objectAt(path, value);
  switch (handler['type']) {
    case 'http':
      requireKnown(path, handler, [...COMMON_FIELDS, 'url', 'headers']);
      return { ...httpAt(path, handler, checks), ...settingsAt(event, path, handler) };
    case 'mcp_tool':
      requireKnown(path, handler, [...COMMON_FIELDS, 'server', 'tool', 'input']);
      return { ...toolAt(path, handler, checks), ...settingsAt(event, path, handler) };
    default:
      return refuse(`${path}.type`, `must be one of ${HANDLER_TYPES.join(', ')}`);
  }
}

function httpAt(path: string, { url: sent, headers }: Fields, { urlCheck }: Checks): HttpHandler {
  const url = stringAt(`${path}.url`, sent, 1);
  const fault = urlCheck(url);
  if (fault !== undefined) refuse(`${path}.url`, `cannot be called: ${fault}`);
  if (!URI.test(url))
    refuse(`${path}.url`, 'must be a URI: its other characters percent-encoded, an international name in Punycode');
  if (headers === undefined) return { type: 'http', url };
  return { type: 'http', url, headers: headersAt(`${path}.headers`, headers) };
}

function toolAt(path: string, { server, tool, input }: Fields, { inputs }: Checks): ToolHandler {
  const named = {
    type: 'mcp_tool',
    server: stringAt(`${path}.server`, server, 1),
    tool: stringAt(`${path}.tool`, tool, 1),
  } as const;
  if (input === undefined) return named;
  const sent = objectAt(`${path}.input`, input);
  inputs.take(`${path}.input`, sent);
  requireShortStrings(`${path}.input`, sent);
  return { ...named, input: sent };
}

function settingsAt(
  event: HookEvent,
  path: string,
  { timeout, failClosed }: Fields,
): Pick<Handler, 'timeout' | 'failClosed'> {
  if (
    timeout !== undefined &&
    !(Number.isInteger(timeout) && Number(timeout) >= 1 && Number(timeout) <= MAX_TIMEOUT_SECONDS)
  ) {
    refuse(`${path}.timeout`, `must be an integer from 1 to ${MAX_TIMEOUT_SECONDS}, in seconds`);
  }
  if (failClosed !== undefined && typeof failClosed !== 'boolean') refuse(`${path}.failClosed`, 'must be a boolean');
  if (failClosed !== undefined && !EVENT_RULES[event].canFailClosed) {
    const able = HOOK_EVENTS.filter((name) => EVENT_RULES[name].canFailClosed).join(' and ');
    refuse(`${path}.failClosed`, `is not allowed: ${event} always fails open, only ${able} can fail closed`);
  }
  return {
    ...(timeout === undefined ? {} : { timeout: Number(timeout) }),
    ...(failClosed === undefined ? {} : { failClosed }),
  };
}

function headersAt(path: string, value: unknown): Readonly<Record<string, string>> {
  const headers = objectAt(path, value);
  const names = Object.keys(headers);
  if (names.length > MAX_HEADERS) refuse(path, `must have at most ${MAX_HEADERS} entries`);
  for (const name of names) {
    const at = `${path}.${shown(name)}`;
    if (isLongerThan(name, MAX_STRING) || !isHeaderName(name)) refuse(at, 'is not a valid name of an HTTP header');
    if (OWN_HEADERS.has(name.toLowerCase()) || isConnectionHeader(name)) refuse(at, 'is a header that cannot be set');
    const text = stringAt(at, headers[name], 1);
    if (text !== REDACTED && !isHeaderFieldValue(text)) refuse(at, 'must be a string that an HTTP header can carry');
  }
  const repeated = repeatedHeader(names);
  if (repeated !== undefined)
    refuse(`${path}.${shown(repeated)}`, 'must not occur twice: names of headers are case-insensitive');
  return headers as Readonly<Record<string, string>>;
}

/** Recursive: the parser of the request's body has bounded the depth. */
function requireShortStrings(path: string, value: unknown): void {
  if (typeof value === 'string') stringAt(path, value, 0);
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) requireShortStrings(`${path}[${index}]`, item);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      if (isLongerThan(name, MAX_STRING))
        refuse(path, `must not have a field whose name is longer than ${MAX_STRING} characters`);
      requireShortStrings(`${path}.${shown(name)}`, item);
    }
  }
}

function objectAt(path: string, value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  return refuse(path, value === undefined ? 'is required' : 'must be an object');
}

function stringAt(path: string, value: unknown, min: number): string {
  if (typeof value === 'string' && value.length >= min && !isLongerThan(value, MAX_STRING)) return value;
  if (value === undefined) return refuse(path, 'is required');
  return refuse(path, `must be a string of ${min === 0 ? 'at most' : `${min} to`} ${MAX_STRING} characters`);
}

function requireKnown(path: string, fields: Fields, known: readonly string[]): void {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined) refuse(`${path}.${shown(unknown)}`, `is not allowed: the fields are ${known.join(', ')}`);
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
