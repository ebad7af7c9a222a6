import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { FileStore } from '../../platform/files/index.js';
import { newId } from '../../platform/ids/index.js';
import { fileNameOf, type StoredUpload, storageKey } from '../domain/file.js';
import { FileNotFound } from '../domain/files.errors.js';
import { checkedType } from '../domain/media-type.js';
import { FileRepository } from '../persistence/file.repository.js';
import { MAX_UPLOAD_BYTES } from '../limits.js';

export interface Upload {
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  /** The first bytes. */
  readonly head: Buffer;
  open(): Readable;
}

@Injectable()
export class UploadFile {
  constructor(
    private readonly files: FileRepository,
    private readonly store: FileStore,
    private readonly clock: Clock,
  ) {}

  /** @throws ContentTypeMismatch before anything is stored; FileStoreUnavailable */
  async execute(organizationId: string, upload: Upload): Promise<StoredUpload> {
    const contentType = checkedType(upload.contentType, upload.head);
    const file: StoredUpload = {
      id: newId(),
      organizationId,
      name: fileNameOf(upload.name),
      contentType,
      size: upload.size,
    };
    await this.files.begin(file, this.clock.now());
    await this.put(file, upload);
    // The upload took so long that the daily job removed it as abandoned.
    if (!(await this.files.finish(file.id))) throw new FileNotFound();
    return file;
  }

  /** After a failure the file is removed at once if possible, and otherwise by the daily job. */
  private async put(file: StoredUpload, upload: Upload): Promise<void> {
    const key = storageKey(file);
    try {
      await this.store.put(key, upload.open() as AsyncIterable<Buffer>, {
        contentType: file.contentType,
        maxBytes: MAX_UPLOAD_BYTES,
      });
    } catch (error) {
      const removed = this.store.remove(key).then(() => this.files.delete(file.id));
      await removed.catch(() => undefined);
      throw error;
    }
  }
}
