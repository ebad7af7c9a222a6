import { pipeline, Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { constants, createGunzip } from 'node:zlib';
import { SaxesParser } from 'saxes';
import { TimeSlice } from '../../../platform/clock/index.js';
import { EgressFailed } from '../../../platform/egress/index.js';
import { codeOf } from '../../../platform/errors/index.js';
import {
  COMPUTE_SLICE_MS,
  MAX_LOCATION_LENGTH,
  MAX_SITEMAP_BYTES,
  MAX_XML_ATTRIBUTES,
  MAX_XML_DEPTH,
  MAX_XML_ERRORS,
  SITEMAP_SLICE_CHARACTERS,
} from '../limits.js';

/** An entry of a sitemap: a page or another sitemap. */
export interface Location {
  readonly kind: 'page' | 'sitemap';
  readonly text: string;
}

/** The XML declaration with the encoding is within these bytes. */
const DECLARATION_BYTES = 256;
/** An unescaped `&` of an address, a common mistake: the parser would look for the end of an entity. */
const STRAY_AMPERSAND = /&(?!#?\w{1,10};)/g;

/**
 * The entries of a sitemap, as far as it can be read. Whether it is compressed is detected from its content, because servers
 * send many content types.
 * @throws errors of `source` that the server did not cause
 */
export async function* locationsIn(source: AsyncIterable<Buffer>): AsyncGenerator<Location, void, undefined> {
  const content = await beginningOf(source);
  const inflated = content.toString('hex', 0, 2) === '1f8b' ? await inflate(content) : content;
  // XML allows nothing before the declaration, but many files have white space there.
  const text = decoderFor(inflated).decode(inflated).trimStart();
  yield* text.startsWith('<') ? listedIn(text) : linesOf(text);
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

function decoderFor(content: Buffer): TextDecoder {
  const utf16 = { fffe: 'utf-16le', feff: 'utf-16be' }[content.toString('hex', 0, 2)];
  const declared = /^\s*<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})["']/.exec(
    content.toString('latin1', 0, DECLARATION_BYTES),
  )?.[1];
  try {
    return new TextDecoder(utf16 ?? declared);
  } catch {
    return new TextDecoder();
  }
}

/** One URL a line. No regular expression: on a line of millions of characters its backtracking overflows the stack. */
async function* linesOf(text: string): AsyncGenerator<Location, void, undefined> {
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

/** Entries of `urlset` and `sitemapindex`, up to the first place that is not XML. */
async function* listedIn(text: string): AsyncGenerator<Location, void, undefined> {
  const slice = new TimeSlice(COMPUTE_SLICE_MS);
  const reader = new XmlReader();
  for (let start = 0; start < text.length && !reader.isOver;) {
    await slice.rest();
    // Cut at a tag, so that no entity is cut.
    const tag = text.indexOf('<', start + SITEMAP_SLICE_CHARACTERS);
    const end = tag === -1 ? text.length : tag;
    yield* reader.read(text.slice(start, end).replace(STRAY_AMPERSAND, '&amp;'));
    start = end;
  }
}

/** Thrown in an event of the parser to stop it. */
class NotASitemap extends Error {}

/**
 * The parser resolves only XML's five entities and ignores declarations, so a document can neither read files nor expand. The
 * limits of depth and attributes bound its memory.
 */
class XmlReader {
  /** The rest of the text is not XML, or a limit was reached. */
  isOver = false;
  private readonly parser = new SaxesParser();
  private readonly found: Location[] = [];
  private readonly open: string[] = [];
  private location: string | null = null;
  private attributes = 0;
  private errors = 0;

  constructor() {
    this.parser.on('opentagstart', ({ name }) => this.opened(name));
    this.parser.on('attribute', () => this.limit((this.attributes += 1), MAX_XML_ATTRIBUTES));
    this.parser.on('closetag', () => this.closed());
    this.parser.on('text', (text) => this.text(text));
    this.parser.on('cdata', (text) => this.text(text.replaceAll('&amp;', '&')));
    this.parser.on('error', () => this.limit((this.errors += 1), MAX_XML_ERRORS));
  }

  /** The entries in the next part of the document. Entries before an error count. */
  read(text: string): readonly Location[] {
    try {
      this.parser.write(text);
    } catch (error) {
      this.isOver = true;
      if (!(error instanceof NotASitemap)) throw error;
    }
    return this.found.splice(0);
  }

  private limit(count: number, most: number): void {
    if (count > most) throw new NotASitemap();
  }

  private opened(name: string): void {
    this.attributes = 0;
    this.open.push(name.slice(name.indexOf(':') + 1));
    this.limit(this.open.length, MAX_XML_DEPTH);
    this.location = this.kind() ? '' : null;
  }

  private text(text: string): void {
    if (this.location !== null && this.location.length <= MAX_LOCATION_LENGTH)
      this.location += text.slice(0, MAX_LOCATION_LENGTH + 1);
  }

  private closed(): void {
    const text = this.location?.trim() ?? '';
    const kind = this.kind();
    if (kind && isLocation(text)) this.found.push({ kind, text });
    this.location = null;
    this.open.pop();
  }

  /** The kind of the open `loc` element; null for `loc` elements of images and videos. */
  private kind(): Location['kind'] | null {
    const [parent, name] = this.open.slice(-2);
    if (name !== 'loc') return null;
    return parent === 'sitemap' ? 'sitemap' : parent === 'url' ? 'page' : null;
  }
}

function isLocation(text: string): boolean {
  return text !== '' && text.length <= MAX_LOCATION_LENGTH;
}
