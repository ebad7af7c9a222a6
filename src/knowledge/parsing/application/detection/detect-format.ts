import { UnreadableDocument } from '../../domain/parsing.errors.js';
import type { DocumentFormat } from '../../domain/parsed-document.js';
import type { ReadableDocument } from '../formats/reading.js';
import { contentKindOf, type ContentKind } from './content-kind.js';
import { declaredKind, FORMAT_LABELS, FORMAT_NAMES, namedKind, type SaidKind, TEXT_FORMATS } from './known-types.js';

/**
 * What a document is. Its bytes decide; of text, which may be anything, what it is said to be. A file that is not what
 * its name or its content type say is refused; with a page nobody can do anything about what its server says.
 * @throws UnreadableDocument
 */
export async function detectFormat(document: ReadableDocument): Promise<DocumentFormat> {
  const { formats, content } = document;
  const found = await contentKindOf(content);
  if (document.url === null) refuseMismatch(document, found);
  if (found.kind === 'other') throw unsupported(found.label, formats);
  const format = found.kind === 'format' ? found.format : textFormat(document, found.looksLikeHtml);
  if (!formats.includes(format)) throw unsupported(FORMAT_LABELS[format], formats);
  return format;
}

function unsupported(label: string, formats: readonly DocumentFormat[]): UnreadableDocument {
  return new UnreadableDocument(
    'unsupported_type',
    `It is ${label}, which cannot be read. These can: ${formats.map((format) => FORMAT_NAMES[format]).join(', ')}.`,
  );
}

function textFormat({ name, url, contentType }: ReadableDocument, looksLikeHtml: boolean): DocumentFormat {
  const named = namedKind(name ?? (url === null ? null : new URL(url).pathname));
  const declared = declaredKind(contentType);
  if (url !== null) {
    // Servers say `text/plain` of what they do not know, and paths that end like files are often none.
    if (isTextFormat(declared) && declared !== 'text') return declared;
    if (looksLikeHtml && declared !== 'text') return 'html';
    return isTextFormat(named) && named !== 'html' ? named : 'text';
  }
  if (isTextFormat(named)) return named;
  if (isTextFormat(declared) && declared !== 'text') return declared;
  return looksLikeHtml ? 'html' : 'text';
}

function refuseMismatch({ name, contentType }: ReadableDocument, found: ContentKind): void {
  const holds = found.kind === 'other' ? found.label : found.kind === 'text' ? 'text' : FORMAT_LABELS[found.format];
  if (disagrees(namedKind(name), found))
    throw new UnreadableDocument('type_mismatch', `The file is named ${shortened(name ?? '')} but holds ${holds}.`);
  if (disagrees(declaredKind(contentType), found)) {
    const type = shortened((contentType ?? '').split(';')[0] ?? '');
    throw new UnreadableDocument(
      'type_mismatch',
      `The file was uploaded with the content type ${type} but holds ${holds}.`,
    );
  }
}

function disagrees(said: SaidKind, found: ContentKind): boolean {
  if (said === undefined || said === 'other') return said === 'other' && found.kind !== 'other';
  return found.kind === 'text' ? !isTextFormat(said) : found.kind === 'other' || found.format !== said;
}

function isTextFormat(said: SaidKind): said is DocumentFormat {
  return said !== undefined && said !== 'other' && TEXT_FORMATS.has(said);
}

function shortened(name: string): string {
  return name.length <= 100 ? name : `${name.slice(0, 60)}…${name.slice(-30)}`;
}
