import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { type Headers, pack } from 'tar-stream';
import { codeOf, messageOf } from '../errors/index.js';
import { DESCRIPTION, DIGESTS, isPathOfBackup } from './archive-format.js';
import { CHUNK_BYTES } from './limits.js';

const OWNER_ONLY = 0o600;
const PERMISSIONS = 0o777;

/** Writes an archive beside its final path, where it appears complete or not at all. */
export class ArchiveWriter {
  private readonly tar = pack();
  private readonly broken = new AbortController();
  private readonly written: Promise<void>;
  private readonly part: string;
  private readonly digests = new Map<string, string>();

  private constructor(private readonly file: string) {
    // A name of its own: it neither meets nor removes a file of somebody else.
    this.part = `${file}.${randomUUID()}.part`;
    const zstd = createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } });
    // Other users must not read it at any moment: it holds the key of the secrets.
    const output = createWriteStream(this.part, { flags: 'wx', mode: 0o600, flush: true });
    this.written = pipeline(this.tar, zstd, output);
    this.written.catch((error: unknown) => {
      this.broken.abort(error);
    });
  }

  /** @throws Error when the file exists */
  static create(file: string): ArchiveWriter {
    if (existsSync(file)) throw new Error(`${file} exists; a backup replaces no file`);
    return new ArchiveWriter(file);
  }

  addFolder(name: string): void {
    this.entry(name, { type: 'directory', mode: 0o700 });
  }

  async addText(name: string, text: string): Promise<void> {
    const content = Buffer.from(text);
    await this.add(name, content.length, [content]);
  }

  addLink(name: string, target: string): void {
    this.entry(name, { type: 'symlink', linkname: target });
    this.digests.set(name, createHash('sha256').update(target).digest('hex'));
  }

  /**
   * Adds as many bytes as the file has now.
   * @param keepsMode whether a restore gives the file its permissions back; otherwise it is the owner's alone
   * @returns false when there is no such file
   */
  async addFile(name: string, path: string, keepsMode = false): Promise<boolean> {
    const handle = await openIfThere(path);
    if (!handle) return false;
    try {
      const { size, mode } = await handle.stat();
      await this.add(name, size, exactly(handle, size), keepsMode ? mode & PERMISSIONS : OWNER_ONLY);
      return true;
    } finally {
      await handle.close();
    }
  }

  /**
   * @param isIncluded whether a file is part of the backup after all
   * @returns the size of the archive in bytes
   */
  async complete(isIncluded: (name: string) => boolean): Promise<number> {
    const digests = [...this.digests].filter(([name]) => isIncluded(name));
    await this.addText(DIGESTS, JSON.stringify(Object.fromEntries(digests)));
    this.tar.finalize();
    await this.written;
    if (existsSync(this.file)) throw new Error(`${this.file} exists; a backup replaces no file`);
    await rename(this.part, this.file);
    const folder = await open(dirname(this.file), 'r');
    await folder.sync().finally(() => folder.close());
    const handle = await open(this.file, 'r');
    const { size } = await handle.stat().finally(() => handle.close());
    return size;
  }

  /** Removes what was written. @returns the error to report: why the archive could not be written, or `error` */
  async discard(error: unknown): Promise<unknown> {
    this.tar.destroy();
    await this.written.catch(() => undefined);
    await rm(this.part, { force: true });
    const reason: unknown = this.broken.signal.reason;
    if (codeOf(reason) === undefined || codeOf(reason) === 'ERR_STREAM_PREMATURE_CLOSE') return error;
    return new Error(`the backup cannot be written to ${this.file}: ${messageOf(reason)}`, { cause: reason });
  }

  private async add(
    name: string,
    size: number,
    chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
    mode = OWNER_ONLY,
  ): Promise<void> {
    const { signal } = this.broken;
    const digest = createHash('sha256');
    const entry = this.entry(name, { size, mode });
    for await (const chunk of chunks) {
      digest.update(chunk);
      signal.throwIfAborted();
      if (!entry.write(chunk)) await once(entry, 'drain', { signal });
    }
    entry.end();
    this.digests.set(name, digest.digest('hex'));
  }

  /** An archive that cannot be written destroys its entries with the error, which would end the process without a listener; `broken` has it too. */
  private entry(name: string, headers: Omit<Headers, 'name'>): Writable {
    return this.tar.entry({ ...headers, name: checked(name) }).on('error', () => undefined);
  }
}

/** @throws Error if no restore accepts the path */
function checked(name: string): string {
  if (name === DESCRIPTION || name === DIGESTS || isPathOfBackup(name)) return name;
  throw new Error(`${JSON.stringify(name)} is not a path of a backup`);
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Exactly `size` bytes: the file may grow meanwhile, and zeros replace what was cut off. */
async function* exactly(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < size;) {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - position));
    await fill(chunk, handle, position);
    yield chunk;
    position += chunk.length;
  }
}

/** One read may return less than there is. */
async function fill(chunk: Buffer, handle: FileHandle, position: number): Promise<void> {
  for (let filled = 0; filled < chunk.length;) {
    const { bytesRead } = await handle.read(chunk, filled, chunk.length - filled, position + filled);
    if (bytesRead === 0) return;
    filled += bytesRead;
  }
}
