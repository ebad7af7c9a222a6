import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { isStorable } from '../database/index.js';
import { ValidationFailed } from '../errors/index.js';
import { checkJsonLimits, checkLargeJsonLimits, shown } from '../json/index.js';

/** Reading a larger body takes long enough to let others have their turn in between. */
const LARGE_BODY_BYTES = 256 * 1024;

/** Some clients begin with it; it is no part of the JSON. */
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/**
 * Parses a JSON body. Nothing that PostgreSQL cannot store and no property that could poison a
 * prototype gets past it, so that no later layer has to think of either.
 * @returns undefined for an empty body: whether one is required is the route's schema's matter
 * @throws ValidationFailed naming the field
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  const text = decode(bytes);
  checkJsonLimits(text);
  return parse(text);
}

/** As `parseJsonBody`; other requests are served between the steps of reading a large body, and before what comes after it. */
export async function readJsonBody(bytes: Buffer): Promise<unknown> {
  if (bytes.length < LARGE_BODY_BYTES) return parseJsonBody(bytes);
  const text = decode(bytes);
  await nextTask();
  await checkLargeJsonLimits(text, nextTask);
  await nextTask();
  const body = parse(text);
  await nextTask();
  return body;
}

/** Twice, as the first is still in the round of the event loop in which the body arrived. */
async function nextTask(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** The bytes are looked at and then decoded, which is several times as fast as to do both at once. */
function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new ValidationFailed('body is not valid UTF-8');
  return bytes.toString('utf8', bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's message quotes the text, which may hold a secret; its position is what helps.
    const position = /at position \d+( \(line \d+ column \d+\))?/.exec(
      error instanceof Error ? error.message : '',
    )?.[0];
    throw new ValidationFailed(`body is not valid JSON${position === undefined ? '' : ` ${position}`}`);
  }
}

/**
 * Refuses text that cannot be stored and `__proto__` among the fields of a query, a path or a form.
 * @param path how the message names them, such as `querystring`
 */
export function checkFields(fields: unknown, path: string): void {
  if (typeof fields !== 'object' || fields === null) return;
  for (const [name, value] of Object.entries(fields)) {
    if (name === '__proto__') throw new ValidationFailed(`${path}/__proto__ is not allowed`);
    if (!isStorable(name))
      throw new ValidationFailed(`${path} has a field whose name holds U+0000 or a lone surrogate`);
    for (const text of [value].flat()) {
      if (typeof text === 'string' && !isStorable(text)) {
        throw new ValidationFailed(`${path}/${shown(name)} must not contain U+0000 or lone surrogates`);
      }
    }
  }
}
