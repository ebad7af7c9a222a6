import type { Dirent } from 'node:fs';
import { mkdir, opendir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { isUuid } from '../ids/index.js';

/** A folder for each id, closed to other users of this machine. */
export class PrivateFolders {
  private readonly root: string;

  constructor(root: string) {
    this.root = resolve(root);
  }

  /** Makes it where it is not there yet. @returns its absolute path */
  async open(id: string): Promise<string> {
    const path = this.pathOf(id);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  }

  /** With all that is in it. */
  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { recursive: true, force: true, maxRetries: 3 });
  }

  /** The ids of those in which nothing was made or removed since then, one at a time, however many there are. */
  async *unchangedSince(time: Date): AsyncGenerator<string> {
    for await (const entry of await this.entries()) {
      // An id has one spelling here; what has another name is somebody else's.
      if (!entry.isDirectory() || !isUuid(entry.name) || entry.name !== entry.name.toLowerCase()) continue;
      const folder = await stat(this.pathOf(entry.name)).catch(() => undefined);
      if (folder && folder.mtimeMs < time.getTime()) yield entry.name;
    }
  }

  private async entries(): Promise<AsyncIterable<Dirent>> {
    try {
      return await opendir(this.root);
    } catch (error) {
      // Made with the first folder.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Readable.from([]);
      throw error;
    }
  }

  private pathOf(id: string): string {
    // Names a folder that is removed with everything in it: nothing but an id will do.
    if (!isUuid(id)) throw new Error('A private folder is named by an id');
    return join(this.root, id);
  }
}
