import { UnreadableDocument } from '../../domain/parsing.errors.js';
import type { DocumentFormat, ParsedDocument } from '../../domain/parsed-document.js';
import { detectFormat } from '../detection/detect-format.js';
import { FORMAT_LABELS } from '../detection/known-types.js';
import { MAX_TITLE_CHARACTERS } from '../../limits.js';
import type { FormatReader, ReadableDocument } from './reading.js';
import { oneLine } from './text-of.js';

/** Loaded when the first document of the format comes: a crawl never needs most of them. */
const READERS: Readonly<Record<DocumentFormat, () => Promise<FormatReader>>> = {
  text: async () => (await import('./read-text.js')).readText,
  markdown: async () => (await import('./read-markdown.js')).readMarkdown,
  html: async () => (await import('../html/read-html.js')).readHtml,
  pdf: async () => (await import('../pdf/read-pdf.js')).readPdf,
  docx: async () => (await import('../office/read-docx.js')).readDocx,
  pptx: async () => (await import('../office/read-pptx.js')).readPptx,
  xlsx: async () => (await import('../office/read-xlsx.js')).readXlsx,
  csv: async () => (await import('./read-csv.js')).readCsv,
  json: async () => (await import('./read-json.js')).readJson,
};

/** @throws UnreadableDocument where the document is at fault, whatever its reader threw */
export async function parseContent(document: ReadableDocument): Promise<ParsedDocument> {
  if (document.content.length === 0) throw new UnreadableDocument('empty', 'The file is empty: it has 0 bytes.');
  const format = await detectFormat(document);
  const reader = await READERS[format]();
  const { title, language, blocks, page } = await reader(document).catch((error: unknown) => {
    throw reasonOf(error, format);
  });
  if (document.url === null && blocks.length === 0) {
    const hint = format === 'pdf' ? ' It may be a scan: only images of pages.' : '';
    throw new UnreadableDocument('no_text', `The file holds no text that can be read.${hint}`);
  }
  const shortTitle = oneLine(title ?? '')
    .slice(0, MAX_TITLE_CHARACTERS)
    .toWellFormed();
  return { format, title: shortTitle || null, language, blocks, page: format === 'html' ? (page ?? null) : null };
}

function reasonOf(error: unknown, format: DocumentFormat): UnreadableDocument {
  if (error instanceof UnreadableDocument) return error;
  // Thrown where memory for one array or one string cannot be had, in these words.
  if (error instanceof RangeError && /allocation failed|invalid (?:string|array) length/i.test(error.message)) {
    return new UnreadableDocument('too_large', 'Reading the file takes more memory than is allowed.', { cause: error });
  }
  const detail = error instanceof Error ? error.message.slice(0, 500) : undefined;
  return new UnreadableDocument('broken', `The file is broken: it cannot be read as ${FORMAT_LABELS[format]}.`, {
    detail,
    cause: error,
  });
}
