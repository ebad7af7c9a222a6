import type { Dirent } from 'node:fs';
import { mkdir, opendir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { isUuid } from '../ids/index.js';

/** A folder for each id, inaccessible to other users of this machine. */
export class PrivateFolders {
  private readonly root: string;

  constructor(root: string) {
    this.root = resolve(root);
  }

  /** Creates the folder if necessary. @returns its absolute path */
  async open(id: string): Promise<string> {
    const path = this.pathOf(id);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { recursive: true, force: true, maxRetries: 3 });
  }

  /** The ids of folders in which nothing was created or removed since `time`. */
  async *unchangedSince(time: Date): AsyncGenerator<string> {
    for await (const entry of await this.entries()) {
      // Ids are in lower case; folders with other names do not belong to this class.
      if (!entry.isDirectory() || !isUuid(entry.name) || entry.name !== entry.name.toLowerCase()) continue;
      const folder = await stat(this.pathOf(entry.name)).catch(() => undefined);
      if (folder && folder.mtimeMs < time.getTime()) yield entry.name;
    }
  }

  private async entries(): Promise<AsyncIterable<Dirent>> {
    try {
      return await opendir(this.root);
    } catch (error) {
      // The root is created with the first folder.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Readable.from([]);
      throw error;
    }
  }

  private pathOf(id: string): string {
    // The folder is removed with its content, so no other path may be given.
    if (!isUuid(id)) throw new Error('The name of a private folder must be a UUID');
    return join(this.root, id);
  }
}
