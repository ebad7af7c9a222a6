import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib';
import { EgressFailed } from './egress.errors.js';
import { CODING_OVERHEAD_BYTES } from './limits.js';

export const ACCEPTED_CODINGS = 'gzip, deflate, br, zstd';

const DECODERS: Readonly<Record<string, (first: Buffer) => Transform>> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  // Some servers send the raw format under this name, which has no header.
  deflate: (first) => (((first[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
};

/**
 * The decompressed content of a body, of which at most `maxBytes` are accepted. At most one coding, because servers do not send more.
 */
export async function* decodedBody(
  source: AsyncIterable<Buffer>,
  contentEncoding: string | undefined,
  maxBytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  const coding = (contentEncoding ?? '').trim().toLowerCase();
  if (coding === '' || coding === 'identity') {
    yield* counted(source, maxBytes);
    return;
  }
  const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (!decoder) throw new EgressFailed('protocol', { detail: `content-encoding ${coding.slice(0, 100)}` });
  yield* counted(decoded(counted(source, maxBytes + CODING_OVERHEAD_BYTES), decoder), maxBytes);
}

async function* counted(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new EgressFailed('too_large', { detail: `more than ${maxBytes} bytes` });
    yield chunk;
  }
}

async function* decoded(
  source: AsyncGenerator<Buffer, void, undefined>,
  decoder: (first: Buffer) => Transform,
): AsyncGenerator<Buffer, void, undefined> {
  const first = await source.next();
  if (first.done === true) return;
  const transform = decoder(first.value);
  // Its errors reach the transform, and so the loop below.
  pipeline(Readable.from(resumed(first.value, source)), transform, () => undefined);
  try {
    for await (const chunk of transform) yield chunk as Buffer;
  } finally {
    transform.destroy();
  }
}

async function* resumed(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  yield first;
  yield* rest;
}
