import type { DocumentRequest, PageFacts, ParsedDocument } from '../../domain/parsed-document.js';

export interface ReadableDocument extends DocumentRequest {
  readonly content: Buffer;
}

export interface Reading extends Omit<ParsedDocument, 'format' | 'page'> {
  readonly page?: PageFacts;
}

/** @throws UnreadableDocument for a specific reason; any other error means that the document is broken */
export type FormatReader = (document: ReadableDocument) => Promise<Reading>;
