import { getResolvedPDFJS } from 'unpdf';
import type { PDFDocumentProxy as Pdf } from 'unpdf/pdfjs';
import { passwordProtected, UnreadableDocument } from '../../domain/parsing.errors.js';
import { BlockList, firstHeading } from '../formats/block-list.js';
import type { FormatReader } from '../formats/reading.js';
import { languageOf, oneLine } from '../formats/clean-text.js';
import { MAX_PDF_PAGES } from '../../limits.js';
import { addPages } from './pdf-blocks.js';
import { FixedWidthFonts } from './pdf-fonts.js';
import { type Line, linesOf, type PageLines } from './pdf-lines.js';

async function open(content: Buffer): Promise<Pdf> {
  const { getDocument } = await getResolvedPDFJS();
  try {
    return await getDocument({
      // A copy, because PDF.js transfers the buffer.
      data: new Uint8Array(content),
      // Nothing is drawn, run or fetched.
      isEvalSupported: false,
      enableXfa: false,
      disableFontFace: true,
      useSystemFonts: false,
      useWorkerFetch: false,
      useWasm: false,
      stopAtErrors: false,
      verbosity: 0,
    } as Parameters<typeof getDocument>[0]).promise;
  } catch (error) {
    throw error instanceof Error && error.name === 'PasswordException' ? passwordProtected('PDF') : error;
  }
}

async function linesOfPage(pdf: Pdf, number: number, fonts: FixedWidthFonts): Promise<readonly Line[]> {
  const page = await pdf.getPage(number);
  try {
    const { items, styles } = await page.getTextContent({ includeMarkedContent: false });
    const pieces = items.filter((item) => 'str' in item);
    return linesOf(pieces, fonts.on(pieces, styles));
  } finally {
    page.cleanup();
  }
}

async function readPages(pdf: Pdf): Promise<readonly PageLines[]> {
  if (pdf.numPages > MAX_PDF_PAGES) {
    const message = `The PDF has ${pdf.numPages} pages; at most ${MAX_PDF_PAGES} can be read.`;
    throw new UnreadableDocument('too_large', message);
  }
  const pages: PageLines[] = [];
  const fonts = new FixedWidthFonts();
  let [failed, held] = [0, 0];
  let failure: unknown;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    try {
      const lines = await linesOfPage(pdf, number, fonts);
      held += lines.reduce((sum, { text }) => sum + text.length, 0);
      pages.push({ page: number, lines });
    } catch (error) {
      // The other pages may be readable.
      failed += 1;
      failure = error;
    }
    BlockList.checkHeld(held);
  }
  if (failed === pdf.numPages) throw new Error('None of its pages can be read', { cause: failure });
  return pages;
}

/** Titles that programs write if the author gave none: the name of the file or of the program. */
const NO_TITLE =
  /^[([]?(?:anonymous|untitled|unnamed|unspecified|no title|document ?\d*|microsoft (?:word|powerpoint|excel)\b.*|(?:powerpoint )?presentation|slide 1|.*\.(?:docx?|pptx?|xlsx?|pdf|indd|tex|dvi|qxd|rtf|odt))[)\]]?$/i;

async function metadataOf(pdf: Pdf): Promise<{ readonly title: string; readonly language: string | null }> {
  try {
    const { info } = await pdf.getMetadata();
    const { Title, Language } = info as { Title?: unknown; Language?: unknown };
    const title = typeof Title === 'string' ? oneLine(Title) : '';
    return {
      title: NO_TITLE.test(title) ? '' : title,
      language: languageOf(typeof Language === 'string' ? Language : null),
    };
  } catch {
    return { title: '', language: null };
  }
}

export const readPdf: FormatReader = async ({ content }) => {
  const pdf = await open(content);
  try {
    const blocks = new BlockList();
    addPages(await readPages(pdf), blocks);
    const { title, language } = await metadataOf(pdf);
    return { title: title || firstHeading(blocks.blocks, ({ page }) => page === 1), language, blocks: blocks.blocks };
  } finally {
    await pdf.loadingTask.destroy();
  }
};
