import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { FileStore } from '../../platform/files/index.js';
import { type StoredUpload, storageKey } from '../domain/file.js';
import { FileNotFound } from '../domain/files.errors.js';
import { FileRepository } from '../persistence/file.repository.js';
import { FileUrls, type UrlSignature } from './file-urls.js';

interface FileContent {
  readonly file: StoredUpload;
  readonly content: Readable;
  /** Until the URL expires. */
  readonly secondsLeft: number;
}

@Injectable()
export class ReadFile {
  constructor(
    private readonly urls: FileUrls,
    private readonly files: FileRepository,
    private readonly store: FileStore,
  ) {}

  /** @throws FileUrlInvalid, FileUrlExpired before any lookup; FileNotFound */
  async execute(fileId: string, signature: UrlSignature): Promise<FileContent> {
    const secondsLeft = this.urls.verify(fileId, signature);
    const file = await this.files.find(fileId);
    const stored = file && (await this.store.get(storageKey(file)));
    if (!file || !stored) throw new FileNotFound();
    return { file, content: stored.content, secondsLeft };
  }
}
