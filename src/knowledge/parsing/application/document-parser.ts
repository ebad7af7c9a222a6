import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ChildProcesses } from '../../../platform/processes/index.js';
import type { DocumentRequest, ParsedDocument } from '../domain/parsed-document.js';
import { MAX_PARSERS } from '../limits.js';
import { ParserEnded, ParsingPostponed } from './pool/parser-process.js';
import { ParserPool } from './pool/parser-pool.js';
import { QueuedDocument } from './pool/parser-queue.js';
import { startParser } from './pool/start-parser.js';

export interface DocumentInput extends DocumentRequest {
  /** Parsers are shared out fairly between organizations. */
  readonly organizationId: string;
  /**
   * Returns the parts of the whole document. It is called when a parser is free, and again if that parser ends. The parser
   * reads no further part after the signal aborts.
   */
  readonly content: (stop: AbortSignal) => AsyncIterable<Buffer> | Iterable<Buffer>;
  readonly size: number;
}

/** Parses documents of unknown origin in child processes, in bounded memory and time. */
@Injectable()
export class DocumentParser implements OnApplicationShutdown {
  private readonly pool: ParserPool;

  constructor(processes: ChildProcesses) {
    this.pool = new ParserPool(() => startParser(processes), MAX_PARSERS);
  }

  onApplicationShutdown(): Promise<void> {
    return this.pool.close();
  }

  /**
   * @throws UnreadableDocument for what is wrong with the document; the reason of `signal` when it aborts; any other error
   * is the parser's own fault, and the caller may try again
   */
  parse(document: DocumentInput, signal: AbortSignal): Promise<ParsedDocument> {
    return parseWith(this.pool, document, signal);
  }
}

/** If a parser ends before it has answered, the document may not be the cause: a fresh parser gets it once more. */
export async function parseWith(
  pool: ParserPool,
  { organizationId, content, size, ...request }: DocumentInput,
  signal: AbortSignal,
): Promise<ParsedDocument> {
  const queued = new QueuedDocument(organizationId, size);
  for (let wasEnded = false; ;) {
    try {
      return await pool.use(queued, signal, (parser, mayContinue) =>
        parser.parse({ request, content, queued, mayContinue }, signal),
      );
    } catch (error) {
      if (error instanceof ParsingPostponed) queued.isSlow = true;
      else if (!(error instanceof ParserEnded)) throw error;
      // A fresh parser holds no memory of earlier documents, so this document alone took too much.
      else if (wasEnded || (error.tookTooMuchMemory && error.wasFresh)) throw error.asUnreadable();
      else wasEnded = true;
    }
  }
}
