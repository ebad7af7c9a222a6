import { UnreadableDocument } from '../../domain/parsing.errors.js';
import type { DocumentFormat } from '../../domain/parsed-document.js';
import type { ReadableDocument } from '../formats/reading.js';
import { contentKindOf, type ContentKind } from './content-kind.js';
import {
  type DeclaredKind,
  formatLabel,
  formatName,
  isTextFormat,
  kindOfContentType,
  kindOfName,
} from './known-types.js';

/**
 * Detects the format from the bytes, and the kind of text from the name and the content type. A file is refused if they
 * contradict its bytes. A page is not, since its reader cannot change what the server declares.
 * @throws UnreadableDocument
 */
export async function detectFormat(document: ReadableDocument): Promise<DocumentFormat> {
  const { formats, content } = document;
  const found = await contentKindOf(content);
  if (document.url === null) refuseMismatch(document, found);
  if (found.kind === 'other') throw unsupported(found.label, formats);
  const format = found.kind === 'format' ? found.format : textFormat(document, found.looksLikeHtml);
  if (!formats.includes(format)) throw unsupported(formatLabel(format), formats);
  return format;
}

function unsupported(label: string, formats: readonly DocumentFormat[]): UnreadableDocument {
  const names = formats.map(formatName).join(', ');
  return new UnreadableDocument('unsupported_type', `It is ${label}, which cannot be read. These can: ${names}.`);
}

function textFormat({ name, url, contentType }: ReadableDocument, looksLikeHtml: boolean): DocumentFormat {
  const named = kindOfName(name ?? (url === null ? null : new URL(url).pathname));
  const declared = kindOfContentType(contentType);
  if (url !== null) {
    // Servers send `text/plain` for types that they do not recognize, and a path that ends like a file name often is none.
    if (isTextFormat(declared) && declared !== 'text') return declared;
    if (looksLikeHtml && declared !== 'text') return 'html';
    return isTextFormat(named) && named !== 'html' ? named : 'text';
  }
  if (isTextFormat(named)) return named;
  if (isTextFormat(declared) && declared !== 'text') return declared;
  return looksLikeHtml ? 'html' : 'text';
}

function refuseMismatch({ name, contentType }: ReadableDocument, found: ContentKind): void {
  const held = found.kind === 'other' ? found.label : found.kind === 'text' ? 'text' : formatLabel(found.format);
  if (contradicts(kindOfName(name), found)) throw mismatch(`is named ${shortened(name ?? '')}`, held);
  if (contradicts(kindOfContentType(contentType), found)) {
    const type = shortened((contentType ?? '').split(';')[0] ?? '');
    throw mismatch(`was uploaded with the content type ${type}`, held);
  }
}

function mismatch(claim: string, held: string): UnreadableDocument {
  return new UnreadableDocument('type_mismatch', `The file ${claim} but holds ${held}.`);
}

function contradicts(declared: DeclaredKind, found: ContentKind): boolean {
  if (declared === undefined || declared === 'other') return declared === 'other' && found.kind !== 'other';
  return found.kind === 'text' ? !isTextFormat(declared) : found.kind === 'other' || found.format !== declared;
}

function shortened(name: string): string {
  return name.length <= 100 ? name : `${name.slice(0, 60)}…${name.slice(-30)}`;
}
