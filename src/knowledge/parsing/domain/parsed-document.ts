export const DOCUMENT_FORMATS = ['text', 'markdown', 'html', 'pdf', 'docx', 'pptx', 'xlsx', 'csv', 'json'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

export interface DocumentRequest {
  /** As the server or the client sent it, with parameters; null if it sent none. */
  readonly contentType: string | null;
  /** The file's name; null for a page. Its extension tells text formats apart. */
  readonly name: string | null;
  /** The page's address after redirects, the base of its links; null for a file. */
  readonly url: string | null;
  /** A document of any other format fails with `UnreadableDocument`. */
  readonly formats: readonly DocumentFormat[];
}

/** A piece of a document's text, in reading order. */
export type Block = BlockPlace &
  (
    | { readonly kind: 'heading'; /** 1 to 6. */ readonly level: number; readonly text: string }
    /** A paragraph or a list; lines are separated by `\n`. */
    | { readonly kind: 'text' | 'code'; readonly text: string }
    /** Rows with one cell before the others are captions; the next one names the columns. */
    | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] }
  );

/** The position of a block in its document. */
export interface BlockPlace {
  readonly page?: number;
  /** The nearest id at or before the block that can be a fragment of the page's address. */
  readonly anchor?: string;
  /** What the block defines or belongs to below the headings: a `dt`, a `summary`, a tab. Nested ones, the outer first, are separated by ` › `. */
  readonly term?: string;
}

/** Metadata of an HTML page. URLs are absolute and without fragment. */
export interface PageFacts {
  /** Of `a` and `area` elements, in order, each once. Without those with `rel=nofollow`; empty if the page's robots tag has nofollow. */
  readonly links: readonly string[];
  readonly canonical: string | null;
  /** `<meta name=robots>` forbids indexing. */
  readonly noindex: boolean;
  /** The target of `<meta http-equiv=refresh>`. */
  readonly refresh: string | null;
}

export interface ParsedDocument {
  readonly format: DocumentFormat;
  /** Null if the document has none. */
  readonly title: string | null;
  /** The language that the document declares, as the first part of a language tag (`de`); null if it declares none. */
  readonly language: string | null;
  readonly blocks: readonly Block[];
  /** Null for all formats but HTML. */
  readonly page: PageFacts | null;
}
