import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isStorable } from '../database/index.js';
import { DomainError, ValidationFailed } from '../errors/index.js';
import { checkJsonLimits, checkLargeJsonLimits, shown } from '../json/index.js';

/** Larger bodies are read in steps, between which other requests are served. */
const LARGE_BODY_BYTES = 256 * 1024;

/** Some clients send it first; it is no part of the JSON. */
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** A body of another content type or encoding than the route reads. */
export class UnsupportedBody extends DomainError {
  private constructor(message: string) {
    super('unsupported_media_type', message, { code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' });
  }

  static ofType(accepted: string): UnsupportedBody {
    return new UnsupportedBody(`The content type of the body is not supported here; send ${accepted}.`);
  }

  static ofEncoding(encoding: string): UnsupportedBody {
    return new UnsupportedBody(
      `The content encoding ${JSON.stringify(encoding)} is not supported; send the body uncompressed, without Content-Encoding.`,
    );
  }
}

/** Makes JSON the only content type that routes read. */
export function acceptOnlyJson(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  const read = async ({ headers }: FastifyRequest, body: Buffer): Promise<unknown> => {
    const encoding = headers['content-encoding'];
    // A small compressed body can be large after decompression.
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      throw UnsupportedBody.ofEncoding(shown(encoding));
    return readJsonBody(body);
  };
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, read);
}

/**
 * Parses a JSON body. Refuses what PostgreSQL cannot store and properties that could poison a prototype, so that no later layer
 * has to. Other requests are served between the steps of reading a large body.
 * @returns undefined for an empty body; the schema of the route decides whether a body is required
 * @throws ValidationFailed naming the field
 */
async function readJsonBody(bytes: Buffer): Promise<unknown> {
  if (bytes.length === 0) return undefined;
  const text = decode(bytes);
  if (bytes.length < LARGE_BODY_BYTES) {
    checkJsonLimits(text);
    return parse(text);
  }
  await nextTask();
  await checkLargeJsonLimits(text, nextTask);
  await nextTask();
  const body = parse(text);
  await nextTask();
  return body;
}

/** Waits twice, because the first wait ends in the round of the event loop in which the body arrived. */
async function nextTask(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** Checks the bytes before decoding them, which is several times as fast as a decoder that does both. */
function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new ValidationFailed('body is not valid UTF-8');
  return bytes.toString('utf8', bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's message quotes the text, which may contain a secret, so only its position is passed on.
    const position = /at position \d+( \(line \d+ column \d+\))?/.exec(
      error instanceof Error ? error.message : '',
    )?.[0];
    throw new ValidationFailed(`body is not valid JSON${position === undefined ? '' : ` ${position}`}`);
  }
}

/**
 * Refuses text that PostgreSQL cannot store, and `__proto__`, among the fields of a query, a path or a form.
 * @param path the name of the fields in messages, such as `querystring`
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
