import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AVAILABLE_CORES, ChildProcesses } from '../../../platform/processes/index.js';
import { UnreadableDocument } from '../domain/parsing.errors.js';
import type { ParsedDocument } from '../domain/parsed-document.js';
import { type DocumentInput, DocumentParser } from './document-parser.js';
import { FILE_LIMIT_MS, FILE_LIMIT_MS_PER_MIB, MAX_PARSERS, PAGE_LIMIT_MS } from '../limits.js';
import { ParserEnded } from './pool/parser-process.js';
import { ParserPool } from './pool/parser-pool.js';
import { RepeatableContent } from './pool/repeatable-content.js';
import { startParser } from './pool/start-parser.js';

const ATTEMPTS = 2;
const MIB = 1024 * 1024;

/** Reads documents in processes of their own; what comes back of them is text. */
@Injectable()
export class ProcessDocumentParser extends DocumentParser implements OnApplicationShutdown {
  private readonly pool: ParserPool;

  constructor(processes: ChildProcesses) {
    super();
    this.pool = new ParserPool(() => startParser(processes), Math.min(MAX_PARSERS, AVAILABLE_CORES));
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
  const content = new RepeatableContent(document.content, document.size);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptWith(pool, document, content, signal);
    } catch (error) {
      if (!(error instanceof ParserEnded)) throw error;
      const isLast = attempt === ATTEMPTS || !content.canRead;
      // A fresh one has no remains of others that could have been too much.
      if (isLast || (error.tookTooMuchMemory && error.wasFresh)) throw reasonOf(error);
    }
  }
}

function attemptWith(pool: ParserPool, document: DocumentInput, content: RepeatableContent, signal: AbortSignal): Promise<ParsedDocument> {
  const { contentType, name, url, formats, size } = document;
  const isFile = url === null;
  const turn = { origin: document.origin ?? (isFile ? 'files' : 'pages'), isFile };
  const limitMs = isFile ? FILE_LIMIT_MS + Math.ceil(size / MIB) * FILE_LIMIT_MS_PER_MIB : PAGE_LIMIT_MS;
  return pool.use(turn, signal, (parser) => parser.parse({ request: { contentType, name, url, formats }, content: content.read(), limitMs }, signal));
}

function reasonOf(ended: ParserEnded): UnreadableDocument {
  if (ended.tookTooMuchMemory) return new UnreadableDocument('too_large', 'Reading the file takes more memory than is allowed.', { cause: ended });
  return new UnreadableDocument('broken', 'The file is broken: reading it does not come to an end.', { cause: ended });
}
