import { fileTypeFromBuffer } from 'file-type';
import { UnreadableDocument } from '../../domain/parsing.errors.js';
import type { DocumentFormat } from '../../domain/parsed-document.js';
import { Archive } from '../office/archive.js';
import { encodingOf } from './charset.js';
import { labelOf } from './known-types.js';

/** What the bytes are. */
export type ContentKind =
  | { readonly kind: 'format'; readonly format: DocumentFormat }
  /** Text of whichever kind. */
  | { readonly kind: 'text'; readonly looksLikeHtml: boolean }
  | { readonly kind: 'other'; readonly label: string };

const OLE = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const ZIP = Buffer.from('PK\x03\x04', 'latin1');
const EMPTY_ZIP = Buffer.from('PK\x05\x06', 'latin1');
/** The part of an encrypted Office file, as its container names it. */
const ENCRYPTED_PART = Buffer.from('EncryptedPackage', 'utf16le');
const OLD_PARTS: readonly (readonly [part: string, extension: string])[] = [
  ['WordDocument', 'doc'],
  ['Workbook', 'xls'],
  ['PowerPoint Document', 'ppt'],
];
/** Folders, since programs may name the main part in them as they like. */
const OFFICE_FOLDERS: readonly (readonly [folder: RegExp, format: DocumentFormat])[] = [
  [/^word\//, 'docx'],
  [/^ppt\//, 'pptx'],
  [/^xl\//, 'xlsx'],
];
/** Readers accept a PDF that begins with something else. */
const PDF_HEADER_BYTES = 1_024;
const SAMPLE_BYTES = 64 * 1024;
/** Of the characters of a text, those that no text has. */
const MAX_CONTROL_SHARE = 0.01;
const HTML_START =
  /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]*?-->\s*)*<(?:!doctype\s+html|html|head|body|title|meta|div|p|h1|table|script|link)\b/i;

export async function contentKindOf(content: Buffer): Promise<ContentKind> {
  if (content.subarray(0, 4).equals(ZIP) || content.subarray(0, 4).equals(EMPTY_ZIP)) return zipKind(content);
  if (content.subarray(0, OLE.length).equals(OLE)) return oleKind(content);
  if (content.subarray(0, PDF_HEADER_BYTES).includes('%PDF-')) return { kind: 'format', format: 'pdf' };
  const found = await fileTypeFromBuffer(content.subarray(0, SAMPLE_BYTES));
  const text = textKind(content);
  if (found?.ext === 'xml') return text?.looksLikeHtml === true ? text : { kind: 'other', label: labelOf('xml') };
  // Some marks of types are a few letters, with which a text may begin as well.
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
  if (content.includes(ENCRYPTED_PART)) {
    throw new UnreadableDocument(
      'encrypted',
      'The file is protected by a password. Save it without one and upload it again.',
    );
  }
  const old = OLD_PARTS.find(([part]) => content.includes(Buffer.from(part, 'utf16le')));
  return { kind: 'other', label: old ? labelOf(old[1]) : 'a file of an old Office program' };
}

function textKind(content: Buffer): (ContentKind & { readonly kind: 'text' }) | undefined {
  const sample = content.subarray(0, SAMPLE_BYTES);
  const encoding = encodingOf(sample, null, false);
  const isUtf16 = encoding.startsWith('utf-16');
  if (!isUtf16 && content.includes(0)) return undefined;
  const text = new TextDecoder(encoding).decode(sample, { stream: true });
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  const controls = text.match(/[\0-\x08\x0e-\x1a\x1c-\x1f\ufffd]/g)?.length ?? 0;
  if (controls > Math.max(2, text.length * MAX_CONTROL_SHARE)) return undefined;
  return { kind: 'text', looksLikeHtml: HTML_START.test(text.slice(0, 4_096)) };
}
