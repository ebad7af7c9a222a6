import type { DocumentRequest, PageFacts, ParsedDocument } from '../../domain/parsed-document.js';

/** A document as a reader of its format gets it. */
export interface ReadableDocument extends DocumentRequest {
  readonly content: Buffer;
}

/** What a reader of one format finds. */
export interface Reading extends Omit<ParsedDocument, 'format' | 'page'> {
  readonly page?: PageFacts;
}

/** @throws UnreadableDocument where it knows the reason; anything else says that the document is broken */
export type FormatReader = (document: ReadableDocument) => Promise<Reading>;
