import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { type HookAnswer, LEFT_OPEN } from '../../support/hook-server.js';

/** A fault of an endpoint, and the error that reports it. */
export interface HandlerFault {
  readonly what: string;
  readonly answer: HookAnswer;
  readonly error: RegExp | string;
}

const MIB = 1_048_576;
const LATE = /did not answer (in time|within 1 second)/;
const UNREACHABLE = 'The host of the URL cannot be reached.';
const NO_HTTP = 'The answer is not valid HTTP.';
const TOO_LARGE = 'The answer is larger than accepted.';
const NO_JSON = 'The response is not valid JSON.';
const NO_OBJECT = 'The response is not a JSON object.';

const OUTPUT = JSON.stringify({ decision: 'block', reason: 'never read in whole' });

function answersWith(
  status: number,
  body: string | Buffer = '',
  headers: Readonly<Record<string, string>> = {},
): HookAnswer {
  return (_hook, response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

/** With the text as the body. */
function says(what: string, text: string | Buffer, error: HandlerFault['error']): HandlerFault {
  return { what: `answers ${what}`, answer: answersWith(200, text), error };
}

function begins(response: ServerResponse, part: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(OUTPUT.length) });
  response.write(part);
}

/** Each takes the whole timeout of the handler. */
export const SLOW_FAULTS: readonly HandlerFault[] = [
  { what: 'never answers', answer: () => LEFT_OPEN, error: LATE },
  {
    what: 'answers a byte every 100 ms',
    answer: (_hook, response) => {
      begins(response, OUTPUT.slice(0, 1));
      let sent = 1;
      const timer = setInterval(() => response.write(OUTPUT[sent++] ?? ''), 100);
      response.on('close', () => clearInterval(timer));
      return LEFT_OPEN;
    },
    error: LATE,
  },
  {
    what: 'answers headers without a body',
    answer: (_hook, response) => {
      response.writeHead(200).flushHeaders();
      return LEFT_OPEN;
    },
    error: LATE,
  },
  {
    what: 'answers half of a body and no more',
    answer: (_hook, response) => {
      begins(response, OUTPUT.slice(0, 20));
      return LEFT_OPEN;
    },
    error: LATE,
  },
];

export const TRANSPORT_FAULTS: readonly HandlerFault[] = [
  {
    what: 'resets the connection before the answer',
    answer: (_hook, response) => {
      response.socket?.resetAndDestroy();
      return LEFT_OPEN;
    },
    error: UNREACHABLE,
  },
  {
    what: 'resets the connection in the middle of the answer',
    answer: (_hook, response) => {
      begins(response, OUTPUT.slice(0, 20));
      setImmediate(() => response.socket?.resetAndDestroy());
      return LEFT_OPEN;
    },
    error: NO_HTTP,
  },
  {
    what: 'ends the connection in the middle of the answer',
    answer: (_hook, response) => {
      begins(response, OUTPUT.slice(0, 20));
      response.socket?.end();
      return LEFT_OPEN;
    },
    error: NO_HTTP,
  },
  {
    what: 'answers something else than HTTP',
    answer: (_hook, response) => {
      response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n');
      return LEFT_OPEN;
    },
    error: NO_HTTP,
  },
  says('10 MB', JSON.stringify({ reason: 'x'.repeat(10_000_000) }), TOO_LARGE),
  {
    what: 'answers a few KB that decompress to more than 1 MiB',
    answer: answersWith(200, gzipSync(JSON.stringify({ reason: 'x'.repeat(MIB) })), { 'content-encoding': 'gzip' }),
    error: TOO_LARGE,
  },
  {
    what: 'answers what it says is gzip and is not',
    answer: answersWith(200, OUTPUT, { 'content-encoding': 'gzip' }),
    error: NO_HTTP,
  },
];

export const STATUS_FAULTS: readonly HandlerFault[] = [304, 400, 401, 404, 429, 500, 503].map((status) => ({
  what: `answers ${status}`,
  // The body of an error response is ignored.
  answer: answersWith(status, status === 304 ? '' : OUTPUT),
  error: `The endpoint responded with the status ${status}.`,
}));

/** Outputs with a wrong field, by the name of the field. */
const WRONG_TYPES: readonly (readonly [string, object])[] = [
  ['decision', { decision: 'allow' }],
  ['decision', { decision: true }],
  ['reason', { decision: 'block', reason: ['a', 'b'] }],
  ['additionalContext', { additionalContext: { text: 'a' } }],
  ['hookSpecificOutput', { hookSpecificOutput: 'deny' }],
  ['hookSpecificOutput', { hookSpecificOutput: [{ permissionDecision: 'deny' }] }],
  ['hookSpecificOutput.hookEventName', { hookSpecificOutput: { hookEventName: 1 } }],
  ['hookSpecificOutput.additionalContext', { hookSpecificOutput: { additionalContext: ['a'] } }],
  ['hookSpecificOutput.permissionDecision', { hookSpecificOutput: { permissionDecision: 'maybe' } }],
  ['hookSpecificOutput.permissionDecisionReason', { hookSpecificOutput: { permissionDecisionReason: 5 } }],
  ['hookSpecificOutput.updatedInput', { hookSpecificOutput: { updatedInput: '{}' } }],
  ['hookSpecificOutput.updatedInput', { hookSpecificOutput: { updatedInput: [] } }],
];

export const MALFORMED_FAULTS: readonly HandlerFault[] = [
  says('half of a JSON object', '{"decision": "block"', NO_JSON),
  says('a page', '<!doctype html><title>Sign in</title>', NO_JSON),
  says('no UTF-8', Buffer.from([0xff, 0xfe, 0x7b, 0x7d]), NO_JSON),
  says('a JSON array', '[{"decision": "block"}]', NO_OBJECT),
  says('a JSON string', '"block"', NO_OBJECT),
  says('null', 'null', NO_OBJECT),
  ...WRONG_TYPES.map(([name, output]) =>
    says(JSON.stringify(output), JSON.stringify(output), new RegExp(`^${name} is not `)),
  ),
];

export const QUICK_FAULTS = [...TRANSPORT_FAULTS, ...STATUS_FAULTS, ...MALFORMED_FAULTS];
