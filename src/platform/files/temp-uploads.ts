import { createReadStream, type ReadStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../clock/index.js';
import type { Settings } from '../config/index.js';
import { newId } from '../ids/index.js';
import { FileStoreUnavailable } from './file-store.js';
import { WatchedSource } from './watched-source.js';
import { TEMPORARY_MS } from './limits.js';

/** A file on the disk while its request is handled. */
export interface TempUpload {
  readonly path: string;
  readonly size: number;
  readonly head: Buffer;
  readonly open: () => ReadStream;
  readonly discard: () => Promise<void>;
}

/**
 * Temporary files of uploads while their request is read and validated: a file of 50 MB must not be in memory, and not in the
 * store before the request is accepted.
 */
export class TempUploads {
  /** @param durable files are synced to the disk, so that they survive a crash of the machine */
  constructor(
    readonly folder: string,
    private readonly durable = false,
  ) {}

  static of({ dataDir }: Settings): TempUploads {
    return new TempUploads(join(dataDir, 'spool'));
  }

  async prepare(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
  }

  /** @throws FileTooLarge; FileStoreUnavailable; what `content` throws */
  async take(content: AsyncIterable<Buffer>, maxBytes: number): Promise<TempUpload> {
    const path = join(this.folder, newId());
    const source = new WatchedSource(content, maxBytes);
    const discard = (): Promise<void> => rm(path, { force: true });
    try {
      await this.prepare();
      // Opened first: a stream that opens the file itself may do so after it was discarded.
      const file = await open(path, 'wx', 0o600);
      await pipeline(source, file.createWriteStream({ flush: this.durable }));
      return { path, size: source.size, head: source.head, open: () => createReadStream(path), discard };
    } catch (error) {
      await discard().catch(() => undefined);
      throw source.errorOr(() => new FileStoreUnavailable(error));
    }
  }

  /** Removes the files of killed processes: only old ones, because other processes may use the folder. */
  async sweep(clock: Clock): Promise<void> {
    const oldest = clock.now().getTime() - TEMPORARY_MS;
    for (const name of await readdir(this.folder).catch(() => [])) {
      const path = join(this.folder, name);
      const file = await stat(path).catch(() => undefined);
      if (file && file.mtimeMs < oldest) await rm(path, { force: true });
    }
  }
}
