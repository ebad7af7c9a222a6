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

/** A file on the disk for as long as its request lasts. */
export interface TempUpload {
  readonly path: string;
  readonly size: number;
  /** The first 4 KiB. */
  readonly head: Buffer;
  readonly open: () => ReadStream;
  readonly discard: () => Promise<void>;
}

/**
 * Where uploads wait while their request is read and judged: a file of 50 MB must not be in memory, and
 * must not be in the store before it is known whether the request is accepted.
 */
export class TempUploads {
  /** @param durable an accepted upload is synced to the disk, so that it survives a crash of the machine */
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
      // Open before anything can fail: a stream that opens it itself may do so after it was discarded.
      const file = await open(path, 'wx', 0o600);
      await pipeline(source, file.createWriteStream({ flush: this.durable }));
      return { path, size: source.size, head: source.head, open: () => createReadStream(path), discard };
    } catch (error) {
      await discard().catch(() => undefined);
      throw source.blame(() => new FileStoreUnavailable(error));
    }
  }

  /** Removes what killed processes left. Other processes may be using the folder, so only what is old goes. */
  async sweep(clock: Clock): Promise<void> {
    const oldest = clock.now().getTime() - TEMPORARY_MS;
    for (const name of await readdir(this.folder).catch(() => [])) {
      const path = join(this.folder, name);
      const file = await stat(path).catch(() => undefined);
      if (file && file.mtimeMs < oldest) await rm(path, { force: true });
    }
  }
}
