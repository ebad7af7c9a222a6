import type { DocumentFormat, ParsedDocument } from '../domain/parsed-document.js';

export interface DocumentInput {
  /**
   * The parts of the whole document. A function where they can be read again from the beginning: then the document is
   * tried once more where its parser ended, as it is anyway where it is small.
   */
  readonly content: AsyncIterable<Buffer> | (() => AsyncIterable<Buffer>);
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
  /** Whose it is, an organization's id for instance: origins take turns. Without it, pages are of one and files of another. */
  readonly origin?: string;
}

/** Reads documents that anybody may have made, where they can do no harm: outside this process, in bounded memory and time. */
export abstract class DocumentParser {
  /**
   * @throws UnreadableDocument for what is wrong with the document; the reason of `signal` when it aborts; anything else
   * is the parser's own fault and may be tried again
   */
  abstract parse(document: DocumentInput, signal: AbortSignal): Promise<ParsedDocument>;
}
