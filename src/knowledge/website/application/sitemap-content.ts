import { pipeline, Readable } from 'node:stream';
import { constants, createGunzip } from 'node:zlib';
import { Parser } from 'htmlparser2';
import { TimeSlice } from '../../../platform/clock/index.js';
import { EgressFailed } from '../../../platform/egress/index.js';
import { codeOf } from '../../../platform/errors/index.js';
import { encodingOf } from '../../parsing/application/detection/charset.js';
import {
  COMPUTE_SLICE_MS,
  MAX_LOCATION_LENGTH,
  MAX_SITEMAP_BYTES,
  MAX_XML_ATTRIBUTES,
  MAX_XML_DEPTH,
  SITEMAP_SLICE_CHARACTERS,
} from '../limits.js';

/** An entry of a sitemap: a page or another sitemap. */
export interface Location {
  readonly kind: 'page' | 'sitemap';
  readonly text: string;
}

/** Detecting the encoding from the whole file would block the event loop for hundreds of milliseconds. */
const ENCODING_SAMPLE_BYTES = 64 * 1024;

/**
 * The entries of a sitemap, as far as it can be read. Whether it is compressed is detected from its content, because servers
 * send many content types.
 * @throws errors of `source` that the server did not cause
 */
export async function* locationsIn(source: AsyncIterable<Buffer>): AsyncGenerator<Location, void, undefined> {
  const content = await beginningOf(source);
  const inflated = content.toString('hex', 0, 2) === '1f8b' ? await inflate(content) : content;
  // XML allows nothing before the declaration, but many files have white space there.
  const encoding = encodingOf(inflated.subarray(0, ENCODING_SAMPLE_BYTES), null, true);
  const text = new TextDecoder(encoding).decode(inflated).trimStart();
  yield* text.startsWith('<') ? xmlLocations(text) : lineLocations(text);
}

/** Of a response that is cut off, by the server or at the limit, the beginning is used. */
async function beginningOf(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of source) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_SITEMAP_BYTES) break;
    }
  } catch (error) {
    const isServerFault = error instanceof EgressFailed || (codeOf(error) ?? '').startsWith('Z_');
    if (!isServerFault) throw error;
  }
  return Buffer.concat(chunks).subarray(0, MAX_SITEMAP_BYTES);
}

function inflate(content: Buffer): Promise<Buffer> {
  const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  // An error is thrown by the iteration too.
  pipeline(Readable.from([content]), gunzip, () => undefined);
  return beginningOf(gunzip);
}

/** One URL a line. No regular expression: on a line of millions of characters its backtracking overflows the stack. */
async function* lineLocations(text: string): AsyncGenerator<Location, void, undefined> {
  const slice = new TimeSlice(COMPUTE_SLICE_MS);
  const lines = text.replaceAll('\r', '\n');
  for (let start = 0; start < lines.length; start += 1) {
    if (lines[start] === '\n') continue;
    await slice.rest();
    const next = lines.indexOf('\n', start);
    const end = next === -1 ? lines.length : next;
    const line = lines.slice(start, end).trim();
    if (isLocation(line)) yield { kind: 'page', text: line };
    start = end;
  }
}

class NotASitemap extends Error {}

/**
 * Entries of `urlset` and `sitemapindex`. The parser resolves only XML's five entities and ignores declarations, so a document
 * can neither read files nor expand. The limits of depth and attributes bound its memory.
 */
async function* xmlLocations(text: string): AsyncGenerator<Location, void, undefined> {
  const found: Location[] = [];
  const open: string[] = [];
  let [location, attributes] = ['', 0];
  const parser = new Parser(
    {
      onopentagname: () => (attributes = 0),
      onattribute: () => {
        attributes += 1;
        if (attributes > MAX_XML_ATTRIBUTES) throw new NotASitemap();
      },
      onopentag: (name) => {
        open.push(name.slice(name.indexOf(':') + 1));
        if (open.length > MAX_XML_DEPTH) throw new NotASitemap();
        location = '';
      },
      ontext: (part) => {
        if (location.length <= MAX_LOCATION_LENGTH) location += part.slice(0, MAX_LOCATION_LENGTH + 1);
      },
      onclosetag: () => {
        const kind = kindOf(open.slice(-2));
        if (kind && isLocation(location.trim())) found.push({ kind, text: location.trim() });
        open.pop();
        location = '';
      },
    },
    { xmlMode: true },
  );
  const slice = new TimeSlice(COMPUTE_SLICE_MS);
  try {
    for (let start = 0; start < text.length; start += SITEMAP_SLICE_CHARACTERS) {
      await slice.rest();
      parser.write(text.slice(start, start + SITEMAP_SLICE_CHARACTERS));
      yield* found.splice(0);
    }
  } catch (error) {
    if (!(error instanceof NotASitemap)) throw error;
    yield* found;
  }
}

/** The kind of the innermost element, if it is a `loc`. Images and videos have `loc` elements with other parents. */
function kindOf([parent, name]: readonly string[]): Location['kind'] | null {
  if (name !== 'loc') return null;
  return parent === 'sitemap' ? 'sitemap' : parent === 'url' ? 'page' : null;
}

function isLocation(text: string): boolean {
  return text !== '' && text.length <= MAX_LOCATION_LENGTH;
}
