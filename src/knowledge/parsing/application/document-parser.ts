import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ChildProcesses } from '../../../platform/processes/index.js';
import type { DocumentRequest, ParsedDocument } from '../domain/parsed-document.js';
import { MAX_PARSERS } from '../limits.js';
import { ParserEnded, SetBack } from './pool/parser-process.js';
import { ParserPool } from './pool/parser-pool.js';
import { ParserTurn } from './pool/parser-turns.js';
import { startParser } from './pool/start-parser.js';

export interface DocumentInput extends DocumentRequest {
  /** Organizations take turns, and none takes all parsers. */
  readonly organizationId: string;
  /**
   * The parts of the whole document, from the beginning each time: it is called once a parser is free, and again where
   * that one ends. Nothing more is read of it when the signal aborts.
   */
  readonly content: (stop: AbortSignal) => AsyncIterable<Buffer>;
  /** Of `content`, in bytes. */
  readonly size: number;
}

/** Reads documents that anybody may have made, where they can do no harm: outside this process, in bounded memory and time. */
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
   * @throws UnreadableDocument for what is wrong with the document; the reason of `signal` when it aborts; anything else
   * is the parser's own fault and may be tried again
   */
  parse(document: DocumentInput, signal: AbortSignal): Promise<ParsedDocument> {
    return parseWith(this.pool, document, signal);
  }
}

/** A parser that ends in mid-document may have done so for another reason: the document is given to a fresh one, once. */
export async function parseWith(
  pool: ParserPool,
  { organizationId, content, size, ...request }: DocumentInput,
  signal: AbortSignal,
): Promise<ParsedDocument> {
  const turn = new ParserTurn(organizationId, size);
  for (let wasEnded = false; ;) {
    try {
      return await pool.use(turn, signal, (parser, mayGoOn) =>
        parser.parse({ request, content, turn, mayGoOn }, signal),
      );
    } catch (error) {
      if (error instanceof SetBack) turn.isSlow = true;
      else if (!(error instanceof ParserEnded)) throw error;
      // A fresh one has no remains of others that could have been too much.
      else if (wasEnded || (error.tookTooMuchMemory && error.wasFresh)) throw error.asUnreadable();
      else wasEnded = true;
    }
  }
}
