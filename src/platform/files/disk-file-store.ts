import { constants } from 'node:fs';
import { access, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../errors/index.js';
import {
  FileStore,
  FileStoreUnavailable,
  type PutOptions,
  type ReadableFile,
  segmentsOf,
  type StoredFile,
} from './file-store.js';
import { TempUploads } from './temp-uploads.js';

export class DiskFileStore extends FileStore {
  readonly drafts: TempUploads;

  constructor(private readonly folder: string) {
    super();
    // No key begins with a dot.
    this.drafts = new TempUploads(join(folder, '.drafts'), true);
  }

  /** Renames a draft, so that neither a reader nor a crash sees a partial file. */
  async put(key: string, content: AsyncIterable<Buffer>, { maxBytes }: PutOptions): Promise<StoredFile> {
    const path = this.pathOf(key);
    const draft = await this.drafts.take(content, maxBytes);
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(draft.path, path);
      await syncFolder(dirname(path));
      return { size: draft.size };
    } catch (error) {
      await draft.discard().catch(() => undefined);
      throw new FileStoreUnavailable(error);
    }
  }

  async get(key: string): Promise<ReadableFile | null> {
    const path = this.pathOf(key);
    return orNull(async () => {
      // The open file stays readable if it is removed meanwhile.
      const handle = await open(path, 'r');
      const { size } = await handle.stat();
      return { size, content: handle.createReadStream() };
    });
  }

  async stat(key: string): Promise<StoredFile | null> {
    const path = this.pathOf(key);
    return orNull(async () => ({ size: (await stat(path)).size }));
  }

  async remove(key: string): Promise<void> {
    const path = this.pathOf(key);
    try {
      await rm(path, { force: true });
    } catch (error) {
      throw new FileStoreUnavailable(error);
    }
  }

  async check(): Promise<void> {
    try {
      await this.drafts.prepare();
      await access(this.drafts.folder, constants.W_OK);
    } catch (error) {
      throw new FileStoreUnavailable(error);
    }
  }

  private pathOf(key: string): string {
    return join(this.folder, ...segmentsOf(key));
  }
}

/** The file's name is durable only once its folder is synced. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function orNull<Result>(read: () => Promise<Result>): Promise<Result | null> {
  try {
    return await read();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new FileStoreUnavailable(error);
  }
}
