import { Deadline } from './deadline.js';
import { type Fields, isRecord } from './fields.js';
import { fileOf } from './multipart.js';
import type { WidgetServerLimits } from './limits.js';
import { invalid, Refusal } from './problems.js';

/** Of a form, besides its file. */
const FORM_OVERHEAD = 65_536;

/** @throws Refusal for another type, for a body that is too large or too slow, and for what is no JSON object */
export async function readJson(request: Request, { jsonBytes, bodyTimeoutMs }: WidgetServerLimits): Promise<Fields> {
  requireType(request, 'application/json');
  const body = await readBody(request, jsonBytes, bodyTimeoutMs);
  const value = parsed(body);
  if (isRecord(value)) return value;
  throw invalid('The body must be a JSON object.');
}

/** @returns the file of the form's field `file` @throws Refusal like `readJson` */
export async function readFile(request: Request, { uploadBytes, bodyTimeoutMs }: WidgetServerLimits): Promise<File> {
  const type = requireType(request, 'multipart/form-data');
  const body = await readBody(request, uploadBytes + FORM_OVERHEAD, bodyTimeoutMs);
  const file = fileOf(body, type);
  if (file.size > uploadBytes) throw tooLarge(uploadBytes);
  return file;
}

/**
 * Reads at most `max` bytes, whatever the headers say, and cancels the rest.
 * @throws the signal's reason when it aborts, and what the stream fails with
 */
export async function readBounded(
  body: ReadableStream<Uint8Array>,
  max: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | 'too_large'> {
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return joined(chunks, size);
      size += value.byteLength;
      if (size > max) {
        stop();
        return 'too_large';
      }
      chunks.push(value);
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export function essenceOf(contentType: string | null): string {
  return (contentType?.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function requireType(request: Request, wanted: string): string {
  const { headers } = request;
  const type = headers.get('content-type');
  const [, charset = 'utf-8'] = /;\s*charset="?([^\s;"]*)/i.exec(type ?? '') ?? [];
  const isPlain = (headers.get('content-encoding') ?? 'identity') === 'identity' && /^utf-?8$/i.test(charset);
  if (type !== null && essenceOf(type) === wanted && isPlain) return type;
  throw new Refusal(415, 'unsupported_media_type', `The body must be ${wanted} in UTF-8, not compressed.`);
}

async function readBody(request: Request, max: number, timeoutMs: number): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(request.headers.get('content-length')) > max) throw tooLarge(max);
  const deadline = new Deadline(timeoutMs, request.signal);
  try {
    const body = request.body ? await readBounded(request.body, max, deadline.signal) : new Uint8Array();
    if (body === 'too_large') throw tooLarge(max);
    return body;
  } catch (error) {
    if (deadline.isOver) throw new Refusal(408, 'request_timeout', 'The body did not arrive in time.');
    throw error;
  } finally {
    deadline.end();
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return all;
}

function tooLarge(max: number): Refusal {
  return new Refusal(413, 'payload_too_large', `At most ${max} bytes are allowed.`);
}
