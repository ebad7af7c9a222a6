import { UnreadableDocument } from '../../domain/parsing.errors.js';
import type { DocumentFormat, ParsedDocument } from '../../domain/parsed-document.js';
import { detectFormat } from '../detection/detect-format.js';
import { formatLabel } from '../detection/known-types.js';
import { MAX_TITLE_CHARACTERS } from '../../limits.js';
import type { FormatReader, ReadableDocument } from './reading.js';
import { oneLine } from './clean-text.js';

/** Each is loaded with the first document of its format: a crawl never needs most of them. */
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

/** @throws UnreadableDocument, also for any error of the format's reader */
export async function parseContent(document: ReadableDocument): Promise<ParsedDocument> {
  if (document.content.length === 0) throw new UnreadableDocument('empty', 'The file is empty: it has 0 bytes.');
  const format = await detectFormat(document);
  const reader = await READERS[format]();
  const { title, language, blocks, page } = await reader(document).catch((error: unknown) => {
    throw asUnreadable(error, format);
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

function asUnreadable(error: unknown, format: DocumentFormat): UnreadableDocument {
  if (error instanceof UnreadableDocument) return error;
  // V8's errors for an array or a string that is too large.
  if (error instanceof RangeError && /allocation failed|invalid (?:string|array) length/i.test(error.message)) {
    return new UnreadableDocument('too_large', 'Reading the file takes more memory than is allowed.', { cause: error });
  }
  const detail = error instanceof Error ? error.message.slice(0, 500) : undefined;
  const message = `The file is broken: it cannot be read as ${formatLabel(format)}.`;
  return new UnreadableDocument('broken', message, { detail, cause: error });
}
