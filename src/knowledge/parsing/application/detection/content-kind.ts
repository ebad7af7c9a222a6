import { fileTypeFromBuffer } from 'file-type';
import { passwordProtected, UnreadableDocument } from '../../domain/parsing.errors.js';
import type { DocumentFormat } from '../../domain/parsed-document.js';
import { Archive } from '../office/archive.js';
import { encodingOf } from './charset.js';
import { labelOf } from './known-types.js';

export type ContentKind =
  | { readonly kind: 'format'; readonly format: DocumentFormat }
  | { readonly kind: 'text'; readonly looksLikeHtml: boolean }
  | { readonly kind: 'other'; readonly label: string };

const OLE = 'd0cf11e0a1b11ae1';
const ZIP = ['PK\x03\x04', 'PK\x05\x06'];
/** The container of an encrypted Office file has this part. */
const ENCRYPTED_PART = Buffer.from('EncryptedPackage', 'utf16le');
const OLD_PARTS: readonly (readonly [part: string, extension: string])[] = [
  ['WordDocument', 'doc'],
  ['Workbook', 'xls'],
  ['PowerPoint Document', 'ppt'],
];
/** Folders, because the name of the main part in them is not fixed. */
const OFFICE_FOLDERS: readonly (readonly [folder: RegExp, format: DocumentFormat])[] = [
  [/^word\//, 'docx'],
  [/^ppt\//, 'pptx'],
  [/^xl\//, 'xlsx'],
];
/** PDF readers accept other bytes before the header. */
const PDF_HEADER_BYTES = 1_024;
const SAMPLE_BYTES = 64 * 1024;
/** Data with a larger share of control characters is not text. */
const MAX_CONTROL_SHARE = 0.01;
const HTML_START =
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]*?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta|div|p|h1|table|script|link)\b/i;

export async function contentKindOf(content: Buffer): Promise<ContentKind> {
  if (ZIP.includes(content.toString('latin1', 0, 4))) return zipKind(content);
  if (content.toString('hex', 0, 8) === OLE) return oleKind(content);
  if (content.subarray(0, PDF_HEADER_BYTES).includes('%PDF-')) return { kind: 'format', format: 'pdf' };
  const found = await fileTypeFromBuffer(content.subarray(0, SAMPLE_BYTES));
  const text = textKind(content);
  if (found?.ext === 'xml') return text?.looksLikeHtml === true ? text : { kind: 'other', label: labelOf('xml') };
  // The signatures of some types are a few letters, with which a text may begin as well.
  if (found && (!text || found.ext === 'rtf' || found.ext === 'ps'))
    return { kind: 'other', label: labelOf(found.ext) };
  return text ?? { kind: 'other', label: 'data of an unknown type' };
}

async function zipKind(content: Buffer): Promise<ContentKind> {
  const archive = await openArchive(content);
  if (archive.has('[Content_Types].xml')) {
    for (const [folder, format] of OFFICE_FOLDERS)
      if (archive.names(folder).length > 0) return { kind: 'format', format };
  }
  if (archive.has('mimetype') && archive.has('content.xml')) return { kind: 'other', label: 'an OpenDocument file' };
  return { kind: 'other', label: labelOf(archive.has('META-INF/container.xml') ? 'epub' : 'zip') };
}

async function openArchive(content: Buffer): Promise<Archive> {
  try {
    return await Archive.open(content);
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    throw new UnreadableDocument(
      'broken',
      'The file is broken: it begins like an Office document or a ZIP archive, but cannot be opened as one.',
      { cause: error },
    );
  }
}

function oleKind(content: Buffer): ContentKind {
  if (content.includes(ENCRYPTED_PART)) throw passwordProtected('file');
  const old = OLD_PARTS.find(([part]) => content.includes(Buffer.from(part, 'utf16le')));
  return { kind: 'other', label: old ? labelOf(old[1]) : 'a file of an old Office program' };
}

function textKind(content: Buffer): (ContentKind & { readonly kind: 'text' }) | undefined {
  const sample = content.subarray(0, SAMPLE_BYTES);
  const encoding = encodingOf(sample, null, false);
  if (!encoding.startsWith('utf-16') && content.includes(0)) return undefined;
  const text = new TextDecoder(encoding).decode(sample, { stream: true });
  // eslint-disable-next-line no-control-regex -- counts control characters
  const controls = text.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\ufffd]/g)?.length ?? 0;
  if (controls > Math.max(2, text.length * MAX_CONTROL_SHARE)) return undefined;
  return { kind: 'text', looksLikeHtml: HTML_START.test(text.slice(0, 4_096)) };
}
