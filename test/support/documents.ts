import {
  DOCUMENT_FORMATS,
  type DocumentFormat,
  type ParsedDocument,
} from '../../src/knowledge/parsing/domain/parsed-document.js';
import type { DocumentInput } from '../../src/knowledge/parsing/application/document-parser.js';
import { parseContent } from '../../src/knowledge/parsing/application/formats/parse-content.js';

export interface DocumentOptions {
  readonly contentType?: string | null;
  readonly name?: string | null;
  readonly url?: string | null;
  readonly formats?: readonly DocumentFormat[];
  readonly organizationId?: string;
}

/** Parses a document in this process. */
export function read(
  content: string | Buffer,
  { contentType = null, name = null, url = null, formats = DOCUMENT_FORMATS }: DocumentOptions = {},
): Promise<ParsedDocument> {
  return parseContent({ content: Buffer.from(content as string), contentType, name, url, formats });
}

async function* partsOf(content: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < content.length; start += 64 * 1024) yield content.subarray(start, start + 64 * 1024);
}

/** A document for `DocumentParser`. */
export function documentOf(
  text: string | Buffer,
  {
    contentType = null,
    name = null,
    url = null,
    formats = DOCUMENT_FORMATS,
    organizationId = 'an organization',
  }: DocumentOptions = {},
): DocumentInput {
  const content = Buffer.from(text as string);
  return { organizationId, content: () => partsOf(content), size: content.length, contentType, name, url, formats };
}

/** Bytes of a text in an encoding of one or two bytes a character. */
export function encode(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding);
  const bytes = new Map<string, Buffer>();
  const learn = (sequence: Buffer): void => {
    const character = decoder.decode(sequence);
    if ([...character].length === 1 && character !== '\ufffd' && !bytes.has(character)) bytes.set(character, sequence);
  };
  for (let first = 0; first < 256; first += 1) learn(Buffer.from([first]));
  for (let first = 0x81; first < 0xff; first += 1)
    for (let second = 0x40; second < 0xff; second += 1) learn(Buffer.from([first, second]));
  return Buffer.concat([...text].map((character) => bytes.get(character) ?? Buffer.from('?')));
}
