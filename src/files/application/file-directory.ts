import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { FileStore } from '../../platform/files/index.js';
import { type StoredUpload, storageKey } from '../domain/file.js';
import { FileRepository } from '../persistence/file.repository.js';
import { FileUrls } from './file-urls.js';
import { UploadFile } from './upload-file.js';

/** Enough of a file to recognize its type. */
const HEAD_BYTES = 4_096;

/** An upload of the caller's organization. */
export interface DirectoryFile {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** Reads the whole content; null when the file has been removed since. */
  read(): Promise<Buffer | null>;
}

/** The uploads, for other contexts. */
@Injectable()
export class FileDirectory {
  constructor(
    private readonly urls: FileUrls,
    private readonly files: FileRepository,
    private readonly fileStore: FileStore,
    private readonly uploads: UploadFile,
    private readonly clock: Clock,
  ) {}

  /** The id in a signed URL of this service, even an expired one, so that attachments work in later runs; null for other URLs. */
  idOf(url: string): string | null {
    const own = this.urls.recognize(url);
    return own === undefined || own === 'forged' ? null : own.fileId;
  }

  /** Whether the URL is a file URL of this service, with a valid signature or not. Such a URL is never fetched. */
  isOwn(url: string): boolean {
    return this.urls.recognize(url) !== undefined;
  }

  /** Finds the file of a signed URL and records its use. @returns null for other URLs and for files of other organizations */
  async open(organizationId: string, url: string): Promise<DirectoryFile | null> {
    const id = this.idOf(url);
    if (id === null) return null;
    const file = await this.files.use(organizationId, id, this.clock.now());
    return file && this.toFile(file);
  }

  /** Finds a file that the caller holds (`FileHolders`), without recording a use. @returns null for files of other organizations */
  async find(organizationId: string, id: string): Promise<DirectoryFile | null> {
    const file = await this.files.find(id);
    return file?.organizationId === organizationId ? this.toFile(file) : null;
  }

  /** Stores a file like an upload: kept while a context holds it, and for 30 days after that. @returns its id @throws FileStoreUnavailable */
  async store(
    organizationId: string,
    file: { readonly name: string; readonly contentType: string; readonly data: Buffer },
  ): Promise<string> {
    const { data, ...declared } = file;
    const content = { size: data.length, head: data.subarray(0, HEAD_BYTES), open: () => Readable.from([data]) };
    return (await this.uploads.execute(organizationId, { ...declared, ...content })).id;
  }

  /** Removes a file that `store` stored and that no context holds. */
  async discard(organizationId: string, id: string): Promise<void> {
    if (!(await this.files.softDelete(organizationId, id))) return;
    await this.fileStore.remove(storageKey({ organizationId, id }));
    await this.files.delete(id);
  }

  /** A signed, short-lived URL. @param origin under which the client reached the service */
  urlOf(id: string, origin: string): string {
    return this.urls.sign(id, origin);
  }

  private toFile(file: StoredUpload): DirectoryFile {
    const { id, name, contentType, size } = file;
    const read = async (): Promise<Buffer | null> => {
      const stored = await this.fileStore.get(storageKey(file));
      return stored && buffer(stored.content);
    };
    return { id, name, contentType, size, read };
  }
}
