/** What a document's bytes turned out to be. */
export const DOCUMENT_FORMATS = ['text', 'markdown', 'html', 'pdf', 'docx', 'pptx', 'xlsx', 'csv', 'json'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/** What is wanted of a document, and what is said of it. */
export interface DocumentRequest {
  /** As the server or the client says, parameters included; null where nothing is said. */
  readonly contentType: string | null;
  /** The file's name, whose extension counts where nothing else tells; null for a page. */
  readonly name: string | null;
  /** Where a page was fetched, after redirects; its links are relative to this. */
  readonly url: string | null;
  /** Any other ends as `UnreadableDocument`. */
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

/** Where a block stands in its document. */
export interface BlockPlace {
  readonly page?: number;
  /** The nearest at or before it that an address can end with. */
  readonly anchor?: string;
  /** What it defines or is the content of, below the headings: a `dt`, a `summary`, a tab; those around it first, separated by ` › `. */
  readonly term?: string;
}

/** What an HTML page says about itself and others; URLs are absolute and without fragment. */
export interface PageFacts {
  /** Those of `a` and `area`, in order, each once; none of `rel=nofollow`, and none where the page asks not to follow. */
  readonly links: readonly string[];
  readonly canonical: string | null;
  /** `<meta name=robots>` forbids to index the page. */
  readonly noindex: boolean;
  /** `<meta http-equiv=refresh>` to another address. */
  readonly refresh: string | null;
}

export interface ParsedDocument {
  readonly format: DocumentFormat;
  /** Of the document itself; null where it has none. */
  readonly title: string | null;
  /** What the document says it is written in, as the first part of a language tag (`de`); null where it does not. */
  readonly language: string | null;
  readonly blocks: readonly Block[];
  /** Of HTML pages alone. */
  readonly page: PageFacts | null;
}
