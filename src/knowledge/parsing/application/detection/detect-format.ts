import { UnreadableDocument } from '../../domain/parsing.errors.js';
import type { DocumentFormat } from '../../domain/parsed-document.js';
import type { ReadableContent } from '../formats/reading.js';
import { contentKindOf, type ContentKind } from './content-kind.js';
import { declaredKind, FORMAT_LABELS, FORMAT_NAMES, namedKind, TEXT_FORMATS } from './known-types.js';

/**
 * What a document is. Its bytes decide; of text, which may be anything, what it is said to be. A file that is not what
 * its name or its content type say is refused; with a page nobody can do anything about what its server says.
 * @throws UnreadableDocument
 */
export async function detectFormat(document: ReadableContent, formats: readonly DocumentFormat[]): Promise<DocumentFormat> {
  const found = await contentKindOf(document.content);
  if (document.url === null) refuseMismatch(document, found);
  if (found.kind === 'other') throw unsupported(found.label, formats);
  const format = found.kind === 'format' ? found.format : textFormat(document, found.looksLikeHtml);
  if (!formats.includes(format)) throw unsupported(FORMAT_LABELS[format], formats);
  return format;
}

function unsupported(label: string, formats: readonly DocumentFormat[]): UnreadableDocument {
  return new UnreadableDocument('unsupported_type', `It is ${label}, which cannot be read. These can: ${formats.map((format) => FORMAT_NAMES[format]).join(', ')}.`);
}

function textFormat({ name, url, contentType }: ReadableContent, looksLikeHtml: boolean): DocumentFormat {
  const named = namedKind(name ?? (url === null ? null : new URL(url).pathname)).format;
  const declared = declaredKind(contentType).format;
  const isText = (format: DocumentFormat | undefined): format is DocumentFormat => format !== undefined && TEXT_FORMATS.has(format);
  if (url !== null) {
    // Servers say `text/plain` of what they do not know, and paths that end like files are often none.
    if (isText(declared) && declared !== 'text') return declared;
    if (looksLikeHtml && declared !== 'text') return 'html';
    return isText(named) && named !== 'html' ? named : 'text';
  }
  if (isText(named)) return named;
  if (isText(declared) && declared !== 'text') return declared;
  return looksLikeHtml ? 'html' : 'text';
}

function refuseMismatch({ name, contentType }: ReadableContent, found: ContentKind): void {
  const holds = labelOfKind(found);
  const named = namedKind(name);
  if (disagrees(named, found)) throw new UnreadableDocument('type_mismatch', `The file is named ${shortened(name ?? '')} but holds ${holds}.`);
  const declared = declaredKind(contentType);
  if (disagrees(declared, found)) {
    const type = shortened((contentType ?? '').split(';')[0] ?? '');
    throw new UnreadableDocument('type_mismatch', `The file was uploaded with the content type ${type} but holds ${holds}.`);
  }
}

function disagrees(said: { readonly format?: DocumentFormat; readonly other?: string }, found: ContentKind): boolean {
  if (said.format === undefined) return said.other !== undefined && found.kind !== 'other';
  if (found.kind === 'other') return true;
  return found.kind === 'text' ? !TEXT_FORMATS.has(said.format) : found.format !== said.format;
}

function labelOfKind(found: ContentKind): string {
  if (found.kind === 'other') return found.label;
  return found.kind === 'text' ? 'text' : FORMAT_LABELS[found.format];
}

function shortened(name: string): string {
  return name.length <= 100 ? name : `${name.slice(0, 60)}…${name.slice(-30)}`;
}
