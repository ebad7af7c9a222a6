import { addAbortSignal } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { storableText } from '../../../platform/database/index.js';
import { FileStore } from '../../../platform/files/index.js';
import { UnreadableDocument } from '../../parsing/domain/parsing.errors.js';
import { DOCUMENT_FORMATS, type ParsedDocument } from '../../parsing/domain/parsed-document.js';
import { uploadKey } from '../domain/upload.js';
import { PARSE_ATTEMPTS } from '../limits.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { DocumentParser } from '../../parsing/application/document-parser.js';
import { type ClaimedUpload, UploadRepository } from '../persistence/upload.repository.js';

/** The error of an upload that failed for a reason other than its content. */
const GAVE_UP =
  'The file could not be processed, though nothing is known to be wrong with it. Delete it and upload it again.';

export interface ParseUploadCommand {
  readonly organizationId: string;
  readonly agentId: string;
  readonly fileId: string;
  /** Whether this is the last attempt. */
  readonly isLast: boolean;
}

/** Parses an upload and indexes it as a document. The upload is then `ready`, or `failed` with a reason. */
@Injectable()
export class ParseUpload {
  constructor(
    private readonly uploads: UploadRepository,
    private readonly store: FileStore,
    private readonly parser: DocumentParser,
    private readonly index: DocumentIndex,
    private readonly clock: Clock,
  ) {}

  /** @throws errors that another attempt may not meet; the reason of `signal` if it aborts */
  async execute({ organizationId, agentId, fileId, isLast }: ParseUploadCommand, signal: AbortSignal): Promise<void> {
    const upload = await this.uploads.claim(organizationId, agentId, fileId, this.clock.now());
    if (!upload) return;
    if (upload.attempt > PARSE_ATTEMPTS) return this.fail(upload, GAVE_UP);
    try {
      await this.add(upload, await this.parsed(upload, signal));
    } catch (error) {
      if (signal.aborted) await this.uploads.giveBack(upload);
      else if (error instanceof UnreadableDocument) return this.fail(upload, error.message);
      else if (isLast) await this.fail(upload, GAVE_UP);
      throw error;
    }
  }

  private parsed(upload: ClaimedUpload, signal: AbortSignal): Promise<ParsedDocument> {
    const { organizationId, contentType, name, size } = upload;
    const request = { organizationId, contentType, name, url: null, formats: DOCUMENT_FORMATS };
    return this.parser.parse({ ...request, size, content: (stop) => this.contentOf(upload, stop) }, signal);
  }

  /** Streams the file: nothing is read before the parser asks for it. */
  private async *contentOf(upload: ClaimedUpload, stop: AbortSignal): AsyncGenerator<Buffer> {
    const stored = await this.store.get(uploadKey(upload));
    if (!stored) throw new Error('The file store does not have the content of an upload');
    // Without the signal, a store that stops sending would keep the connection open.
    yield* addAbortSignal(stop, stored.content) as AsyncIterable<Buffer>;
  }

  private async add(upload: ClaimedUpload, parsed: ParsedDocument): Promise<void> {
    if (parsed.blocks.length === 0) throw new UnreadableDocument('no_text', 'The file holds no text.');
    const { id, organizationId, agentId, name, scope } = upload;
    const title = storableText(parsed.title ?? '').trim() || name;
    const source = { organizationId, agentId, kind: 'upload', key: id, id, title, url: null, scope } as const;
    // `ready` refuses the document if the upload was removed, or another process has indexed it.
    await this.index.put(source, parsed, (transaction, document) =>
      this.uploads.ready(transaction, upload, document, this.clock.now()),
    );
  }

  private fail(upload: ClaimedUpload, reason: string): Promise<void> {
    return this.uploads.fail(upload, reason, this.clock.now());
  }
}
