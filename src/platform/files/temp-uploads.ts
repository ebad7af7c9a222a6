import { createReadStream, type ReadStream } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock/index.js';
import type { Settings } from '../config/index.js';
import { newId } from '../ids/index.js';
import { FileStoreUnavailable } from './file-store.js';
import { WatchedSource } from './limited.js';
import { removeOld } from './remove-old.js';

/** Bytes from the start of a file that tell its type. */
const HEAD_BYTES = 4_096;
const OWNER_ONLY = 0o600;

/** A file on the disk for as long as its request lasts. */
export interface SpooledFile {
  readonly size: number;
  /** The first 4 KiB. */
  readonly head: Buffer;
  open(): ReadStream;
  discard(): Promise<void>;
}

/**
 * Where uploads wait while their request is read and judged: a file of 50 MB must not be in memory, and
 * must not be in the store before it is known whether the request is accepted.
 */
export class TempUploads {
  constructor(private readonly folder: string) {}

  static of({ dataDir }: Settings): TempUploads {
    return new TempUploads(join(dataDir, 'spool'));
  }

  /** @throws FileTooLarge; FileStoreUnavailable; what `content` throws */
  async take(content: AsyncIterable<Buffer>, maxBytes: number): Promise<SpooledFile> {
    const path = join(this.folder, newId());
    const source = new WatchedSource(content, maxBytes);
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      const head = await write(path, source);
      return { size: source.size, head, open: () => createReadStream(path), discard: () => rm(path, { force: true }) };
    } catch (error) {
      await rm(path, { force: true }).catch(() => undefined);
      throw source.blame(() => new FileStoreUnavailable(error));
    }
  }

  /** Removes what killed processes left. */
  async sweep(clock: Clock): Promise<void> {
    await removeOld(this.folder, clock);
  }
}

async function write(path: string, source: AsyncIterable<Buffer>): Promise<Buffer> {
  const handle = await open(path, 'wx', OWNER_ONLY);
  let head = Buffer.alloc(0);
  try {
    for await (const chunk of source) {
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
      await handle.writeFile(chunk);
    }
  } finally {
    await handle.close();
  }
  return head;
}
