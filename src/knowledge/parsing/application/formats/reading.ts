import type { Block, PageFacts } from '../../domain/parsed-document.js';

/** A document as a reader of its format gets it. */
export interface ReadableContent {
  readonly content: Buffer;
  readonly contentType: string | null;
  readonly name: string | null;
  readonly url: string | null;
}

/** What a reader of one format finds. */
export interface Reading {
  readonly title: string | null;
  readonly language: string | null;
  readonly blocks: readonly Block[];
  readonly page?: PageFacts;
}

/**
 * @throws UnreadableDocument where it knows the reason; anything else says that the document is broken
 */
export type FormatReader = (document: ReadableContent) => Promise<Reading>;
