import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { FileStore } from '../../platform/files/index.js';
import { storageKey } from '../domain/file.js';
import { FileRepository } from '../persistence/file.repository.js';
import { USE_NOTED_EVERY_MS } from '../tunables.js';
import { FileUrls } from './file-urls.js';

/** An upload of the organization that asked for it. */
export interface DirectoryFile {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** The whole content; null when it was removed meanwhile. */
  read(): Promise<Buffer | null>;
}

/** The uploads, for other contexts. */
@Injectable()
export class FileDirectory {
  constructor(
    private readonly urls: FileUrls,
    private readonly files: FileRepository,
    private readonly store: FileStore,
    private readonly clock: Clock,
  ) {}

  /**
   * The id of the file that a signed URL of this service names; an expired one counts too, so that an attachment
   * keeps working in later turns of its thread. Asks nobody; null for every other URL.
   */
  idOf(url: string): string | null {
    const own = this.urls.recognize(url);
    return own === undefined || own === 'forged' ? null : own.fileId;
  }

  /** Whether the URL is one of this service's files, genuine or not; such a URL is never fetched. */
  isOwn(url: string): boolean {
    return this.urls.recognize(url) !== undefined;
  }

  /**
   * The file that a signed URL names, for use: it is not removed for as long as unused uploads are kept.
   * @returns null for another's URL, a file of another organization and a file that is gone
   */
  async open(organizationId: string, url: string): Promise<DirectoryFile | null> {
    const id = this.idOf(url);
    if (id === null) return null;
    const now = this.clock.now();
    const file = await this.files.use(organizationId, id, now, new Date(now.getTime() - USE_NOTED_EVERY_MS));
    if (!file) return null;
    const { name, contentType, size } = file;
    return { id, name, contentType, size, read: () => this.read(storageKey(file)) };
  }

  private async read(key: string): Promise<Buffer | null> {
    const stored = await this.store.get(key);
    return stored && collected(stored.content);
  }
}

async function collected(content: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of content as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}
