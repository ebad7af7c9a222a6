import { constants, createReadStream } from 'node:fs';
import { access, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../clock/index.js';
import { newId } from '../ids/index.js';
import {
  FileStore,
  FileStoreUnavailable,
  type PutOptions,
  type ReadableFile,
  segmentsOf,
  type StoredFile,
} from './file-store.js';
import { removeOld } from './remove-old.js';
import { WatchedSource } from './limited.js';

const OWNER_ONLY = 0o600;

/** Files in a folder of this machine. */
export class DiskFileStore extends FileStore {
  private readonly drafts: string;

  constructor(private readonly folder: string) {
    super();
    // No key begins with a dot.
    this.drafts = join(folder, '.drafts');
  }

  /** Removes what killed processes left. */
  async sweep(clock: Clock): Promise<void> {
    await removeOld(this.drafts, clock);
  }

  /** Written beside and moved into place: a reader sees a whole file or none, and a crash leaves no half of one. */
  async put(key: string, content: AsyncIterable<Buffer>, { maxBytes }: PutOptions): Promise<StoredFile> {
    const path = this.pathOf(key);
    const draft = join(this.drafts, newId());
    const source = new WatchedSource(content, maxBytes);
    try {
      for (const folder of [this.drafts, dirname(path)]) await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeDurably(draft, source);
      await rename(draft, path);
      await syncFolder(dirname(path));
      return { size: source.size };
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw source.blame(() => new FileStoreUnavailable(error));
    }
  }

  async get(key: string): Promise<ReadableFile | null> {
    const path = this.pathOf(key);
    return orNull(async () => {
      // Opened before it is answered: a file that is removed meanwhile stays readable to its end.
      const handle = await open(path, 'r');
      const { size } = await handle.stat();
      return { size, content: createReadStream('', { fd: handle }) };
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
      await mkdir(this.drafts, { recursive: true, mode: 0o700 });
      await access(this.drafts, constants.W_OK);
    } catch (error) {
      throw new FileStoreUnavailable(error);
    }
  }

  private pathOf(key: string): string {
    return join(this.folder, ...segmentsOf(key));
  }
}

async function writeDurably(path: string, source: AsyncIterable<Buffer>): Promise<void> {
  const handle = await open(path, 'wx', OWNER_ONLY);
  try {
    for await (const chunk of source) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The name is on the disk only when its folder is. */
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
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return null;
    throw new FileStoreUnavailable(error);
  }
}
