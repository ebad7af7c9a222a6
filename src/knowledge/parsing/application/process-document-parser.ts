import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ChildProcesses } from '../../../platform/processes/index.js';
import { UnreadableDocument } from '../domain/parsing.errors.js';
import type { ParsedDocument } from '../domain/parsed-document.js';
import { MAX_PARSERS } from '../limits.js';
import { type DocumentInput, DocumentParser } from './document-parser.js';
import { ParserEnded, SetBack } from './pool/parser-process.js';
import { ParserPool } from './pool/parser-pool.js';
import { ParserTurn } from './pool/parser-turns.js';
import { startParser } from './pool/start-parser.js';

/** Reads documents in processes of their own; what comes back of them is text. */
@Injectable()
export class ProcessDocumentParser extends DocumentParser implements OnApplicationShutdown {
  private readonly pool: ParserPool;

  constructor(processes: ChildProcesses) {
    super();
    this.pool = new ParserPool(() => startParser(processes), MAX_PARSERS);
  }

  onApplicationShutdown(): Promise<void> {
    return this.pool.close();
  }

  parse(document: DocumentInput, signal: AbortSignal): Promise<ParsedDocument> {
    return parseWith(this.pool, document, signal);
  }
}

/** A parser that ends in mid-document may have done so for another reason: the document is given to a fresh one, once. */
export async function parseWith(pool: ParserPool, document: DocumentInput, signal: AbortSignal): Promise<ParsedDocument> {
  const { organizationId, content, size, contentType, name, url, formats } = document;
  const turn = new ParserTurn(organizationId, size);
  for (let wasEnded = false; ; ) {
    try {
      return await pool.use(turn, signal, (parser, mayGoOn) => parser.parse({ request: { contentType, name, url, formats }, content, turn, mayGoOn }, signal));
    } catch (error) {
      if (error instanceof SetBack) turn.isSlow = true;
      else if (!(error instanceof ParserEnded)) throw error;
      // A fresh one has no remains of others that could have been too much.
      else if (wasEnded || (error.tookTooMuchMemory && error.wasFresh)) throw reasonOf(error);
      else wasEnded = true;
    }
  }
}

function reasonOf(ended: ParserEnded): UnreadableDocument {
  if (ended.tookTooMuchMemory) return new UnreadableDocument('too_large', 'Reading the file takes more memory than is allowed.', { cause: ended });
  return new UnreadableDocument('broken', 'The file is broken: reading it does not come to an end.', { cause: ended });
}
