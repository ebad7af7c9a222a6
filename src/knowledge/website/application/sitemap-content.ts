import { pipeline, Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { constants, createGunzip } from 'node:zlib';
import { TimeSlice } from '../../../platform/clock/index.js';
import { MAX_SITEMAP_BYTES, SITEMAP_SLICE_CHARACTERS, COMPUTE_SLICE_MS } from '../limits.js';
import { type Location, type SitemapReader, TextSitemapReader, XmlSitemapReader } from '../domain/sitemap-reader.js';

/** The encoding of an XML file stands in its first line. */
const DECLARATION_BYTES = 256;

/**
 * The locations in a sitemap, as they come. Whether it is compressed is told by its content: servers call such files by many types.
 * @throws what `source` throws and what is wrong with the compression, after what was read before
 */
export async function* locationsIn(source: AsyncIterable<Buffer>): AsyncGenerator<Location, void, undefined> {
  const slice = new TimeSlice(COMPUTE_SLICE_MS);
  let reader: SitemapReader | undefined;
  for await (const piece of decoded(limited(inflated(source)))) {
    // Nothing may stand before an XML declaration, and in many files something does.
    const text = reader ? piece : piece.trimStart();
    if (text === '') continue;
    reader ??= text.startsWith('<') ? new XmlSitemapReader() : new TextSitemapReader();
    reader.write(text);
    yield* reader.take();
    if (reader.over) return;
    await slice.rest();
  }
  reader?.end();
  yield* reader?.take() ?? [];
}

async function* inflated(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const begun = startingWith(2, source);
  const first = await begun.next();
  if (first.done === true) return;
  const all = resumed(first.value, begun);
  if (first.value.toString('hex', 0, 2) !== '1f8b') {
    yield* all;
    return;
  }
  // What is cut off is read as far as it goes.
  const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  // Failures of the source reach the stream, and from there the loop below.
  pipeline(Readable.from(all), gunzip, () => undefined);
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } finally {
    gunzip.destroy();
  }
}

async function* limited(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let left = MAX_SITEMAP_BYTES;
  for await (const chunk of source) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}

/** In pieces that are parsed in a moment. */
async function* decoded(source: AsyncIterable<Buffer>): AsyncGenerator<string, void, undefined> {
  let decoder: TextDecoder | undefined;
  for await (const chunk of startingWith(DECLARATION_BYTES, source)) {
    decoder ??= decoderFor(chunk);
    const text = decoder.decode(chunk, { stream: true });
    for (let start = 0; start < text.length; start += SITEMAP_SLICE_CHARACTERS) yield text.slice(start, start + SITEMAP_SLICE_CHARACTERS);
  }
  const rest = decoder?.decode() ?? '';
  if (rest !== '') yield rest;
}

function decoderFor(beginning: Buffer): TextDecoder {
  const utf16 = { fffe: 'utf-16le', feff: 'utf-16be' }[beginning.toString('hex', 0, 2)];
  const declared = /^\s*<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})["']/.exec(beginning.toString('latin1', 0, DECLARATION_BYTES))?.[1];
  try {
    return new TextDecoder(utf16 ?? declared);
  } catch {
    return new TextDecoder();
  }
}

/** Whose first chunk has at least so many bytes, where there are so many; a failure comes after what there was. */
async function* startingWith(bytes: number, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let beginning: Buffer | undefined = Buffer.alloc(0);
  try {
    for await (const chunk of source) {
      if (!beginning) {
        yield chunk;
        continue;
      }
      beginning = Buffer.concat([beginning, chunk]);
      if (beginning.length < bytes) continue;
      const whole = beginning;
      beginning = undefined;
      yield whole;
    }
  } catch (error) {
    if (beginning && beginning.length > 0) yield beginning;
    throw error;
  }
  if (beginning && beginning.length > 0) yield beginning;
}

async function* resumed(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  yield first;
  yield* rest;
}
