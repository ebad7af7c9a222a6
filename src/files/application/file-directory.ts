import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { FileStore } from '../../platform/files/index.js';
import { type StoredUpload, storageKey } from '../domain/file.js';
import { FileRepository } from '../persistence/file.repository.js';
import { USE_NOTED_EVERY_MS } from '../limits.js';
import { FileUrls } from './file-urls.js';
import { UploadFile } from './upload-file.js';

/** Of a file, enough to tell its type by. */
const HEAD_BYTES = 4_096;

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

/** A file that another context wants kept beside the uploads. */
export interface NewFile {
  readonly name: string;
  readonly contentType: string;
  readonly data: Buffer;
}

/** The uploads, for other contexts. */
@Injectable()
export class FileDirectory {
  constructor(
    private readonly urls: FileUrls,
    private readonly files: FileRepository,
    private readonly store: FileStore,
    private readonly uploads: UploadFile,
    private readonly clock: Clock,
  ) {}

  /**
   * The id of the file that a signed URL of this service names; an expired one counts too, so that an attachment
   * keeps working in later runs of its thread. Asks nobody; null for every other URL.
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
    return file && this.toFile(file);
  }

  /**
   * A file that the caller holds (`FileHolders`): looking at it is no use that would keep it any longer.
   * @returns null for a file of another organization and one that is gone
   */
  async find(organizationId: string, id: string): Promise<DirectoryFile | null> {
    const file = await this.files.find(id);
    return file?.organizationId === organizationId ? this.toFile(file) : null;
  }

  /**
   * Keeps a file as if it had been uploaded: for as long as somebody holds it, and 30 days without.
   * @returns its id
   * @throws FileStoreUnavailable
   */
  async keep(organizationId: string, { name, contentType, data }: NewFile): Promise<string> {
    const head = data.subarray(0, HEAD_BYTES);
    const open = (): Readable => Readable.from([data]);
    const { id } = await this.uploads.execute(organizationId, { name, contentType, size: data.length, head, open });
    return id;
  }

  /** Takes back what `keep` has kept and nobody came to hold. */
  async discard(organizationId: string, id: string): Promise<void> {
    const file = await this.files.softDelete(organizationId, id);
    if (!file) return;
    await this.store.remove(storageKey(file));
    await this.files.delete(id);
  }

  /** A signed, short-lived URL. @param origin where the client reached the service */
  urlOf(id: string, origin: string): string {
    return this.urls.sign(id, origin);
  }

  private toFile(file: StoredUpload): DirectoryFile {
    const { id, name, contentType, size } = file;
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
