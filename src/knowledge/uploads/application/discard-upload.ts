import { Injectable } from '@nestjs/common';
import { FileStore } from '../../../platform/files/index.js';
import { type Upload, uploadKey } from '../domain/upload.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { UploadRepository } from '../persistence/upload.repository.js';

/** Removes what is left of a file that is gone for every reader: the row that leads to it goes last. */
@Injectable()
export class DiscardUpload {
  constructor(
    private readonly uploads: UploadRepository,
    private readonly index: DocumentIndex,
    private readonly store: FileStore,
  ) {}

  /** @throws FileStoreUnavailable; the reason of `signal` when it aborts */
  async execute(organizationId: string, id: string, signal: AbortSignal): Promise<void> {
    const removed = await this.uploads.findRemoved(organizationId, id);
    if (removed) await this.everythingOf(removed, signal);
  }

  /** Of one that `softDelete` has taken away. */
  async everythingOf(upload: Pick<Upload, 'id' | 'organizationId'>, signal: AbortSignal): Promise<void> {
    await this.index.remove(upload.organizationId, [upload.id], signal);
    await this.store.remove(uploadKey(upload));
    await this.uploads.delete(upload.organizationId, upload.id);
  }
}
