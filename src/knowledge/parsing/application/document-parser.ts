import type { DocumentFormat, ParsedDocument } from '../domain/parsed-document.js';

export interface DocumentInput {
  /** Organizations take turns, and none takes all parsers. */
  readonly organizationId: string;
  /**
   * The parts of the whole document, from the beginning each time: it is called once a parser is free, and again where
   * that one ends. Nothing more is read of it when the signal aborts.
   */
  readonly content: (stop: AbortSignal) => AsyncIterable<Buffer>;
  /** Of `content`, in bytes. */
  readonly size: number;
  /** As the server or the client says, parameters included; null where nothing is said. */
  readonly contentType: string | null;
  /** The file's name, whose extension counts where nothing else tells; null for a page. */
  readonly name: string | null;
  /** Where a page was fetched, after redirects; its links are relative to this. */
  readonly url: string | null;
  /** Any other ends as `UnreadableDocument`. */
  readonly formats: readonly DocumentFormat[];
}

/** Reads documents that anybody may have made, where they can do no harm: outside this process, in bounded memory and time. */
export abstract class DocumentParser {
  /**
   * @throws UnreadableDocument for what is wrong with the document; the reason of `signal` when it aborts; anything else
   * is the parser's own fault and may be tried again
   */
  abstract parse(document: DocumentInput, signal: AbortSignal): Promise<ParsedDocument>;
}
