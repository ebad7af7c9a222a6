import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AgentNotFound } from '../../../agents/index.js';
import { fileNameOf, mediaTypeOf } from '../../../files/index.js';
import { Clock, Semaphore } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { FileStore } from '../../../platform/files/index.js';
import { newId } from '../../../platform/ids/index.js';
import { TooManyUploads } from '../domain/upload.errors.js';
import { type DocumentScope, type Upload, uploadKey } from '../domain/upload.js';
import { MAX_UPLOADS_OF_AGENT, UPLOADS_STORED_AT_ONCE, UPLOADS_WRITTEN_AT_ONCE } from '../limits.js';
import { MAX_UPLOAD_BYTES } from '../../limits.js';
import { type NewUpload, UploadRepository } from '../persistence/upload.repository.js';
import { UploadScheduler } from './upload-scheduler.js';

export interface SentFile {
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  open(): Readable;
}

/** Stores a file of any type for an agent. A job parses it later, and finds out whether it is readable. */
@Injectable()
export class AddUpload {
  /** Uploads use few of the database's connections, so that they neither starve other requests nor time out waiting for one. */
  private readonly writing = new Semaphore(UPLOADS_WRITTEN_AT_ONCE);
  /** The client of a bucket sends a file in parts of some megabytes, and holds two of them in memory for each upload. */
  private readonly storing = new Semaphore(UPLOADS_STORED_AT_ONCE);

  constructor(
    private readonly database: Database,
    private readonly uploads: UploadRepository,
    private readonly store: FileStore,
    private readonly scheduler: UploadScheduler,
    private readonly clock: Clock,
  ) {}

  /** @throws AgentNotFound, TooManyUploads, FileStoreUnavailable; then nothing is stored */
  async execute(
    agent: { readonly organizationId: string; readonly agentId: string },
    file: SentFile,
    scope: DocumentScope | null,
  ): Promise<Upload> {
    const upload: NewUpload = {
      id: newId(),
      organizationId: agent.organizationId,
      agentId: agent.agentId,
      name: fileNameOf(file.name),
      contentType: mediaTypeOf(file.contentType),
      size: file.size,
      scope,
      createdAt: this.clock.now(),
    };
    await this.writing.run(() => this.begin(upload));
    await this.storing.run(() => this.put(upload, file));
    if (!(await this.writing.run(() => this.finish(upload)))) {
      await this.discard(upload);
      throw new AgentNotFound();
    }
    return { ...upload, status: 'processing', error: null, chunks: 0, bytes: 0 };
  }

  private begin(upload: NewUpload): Promise<void> {
    return this.database.transaction(async (transaction) => {
      const count = await this.uploads.lockAgentAndCount(transaction, upload.organizationId, upload.agentId);
      if (count === null) throw new AgentNotFound();
      if (count >= MAX_UPLOADS_OF_AGENT) throw new TooManyUploads();
      await this.uploads.begin(transaction, upload);
    });
  }

  private async put(upload: NewUpload, file: SentFile): Promise<void> {
    try {
      await this.store.put(uploadKey(upload), file.open() as AsyncIterable<Buffer>, {
        contentType: upload.contentType,
        maxBytes: MAX_UPLOAD_BYTES,
      });
    } catch (error) {
      await this.discard(upload);
      throw error;
    }
  }

  /** Shows the upload and enqueues its job in one transaction, so that no upload is left without a job. */
  private finish(upload: NewUpload): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      if (!(await this.uploads.finish(transaction, upload, this.clock.now()))) return false;
      await this.scheduler.enqueueNext(transaction, upload.organizationId);
      return true;
    });
  }

  /** If the file store fails, the row stays, and the scheduled check removes both later. */
  private async discard(upload: NewUpload): Promise<void> {
    const removed = this.store
      .remove(uploadKey(upload))
      .then(() => this.uploads.delete(upload.organizationId, upload.id));
    await removed.catch(() => undefined);
  }
}
