import type { Readable } from 'node:stream';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { passwordProtected, UnreadableDocument } from '../../domain/parsing.errors.js';
import { MAX_ARCHIVE_MEMBERS, MAX_INFLATED_BYTES } from '../../limits.js';

const MAX_DEFLATE_RATIO = 1_032;

/**
 * The members of a zip archive. Each is inflated as a stream when it is read. All together are inflated to at most
 * `MAX_INFLATED_BYTES`, whatever their headers declare.
 */
export class Archive {
  private inflated = 0;

  private constructor(
    private readonly zip: ZipFile,
    private readonly members: ReadonlyMap<string, Entry>,
  ) {}

  /** @throws UnreadableDocument if there are too many members; other errors if the content is not a zip archive */
  static async open(content: Buffer): Promise<Archive> {
    const zip = await yauzl.fromBufferPromise(content, { lazyEntries: true, autoClose: false });
    if (zip.entryCount > MAX_ARCHIVE_MEMBERS) throw tooLarge(`it has more than ${MAX_ARCHIVE_MEMBERS} parts`);
    const members = new Map<string, Entry>();
    for await (const entry of zip.eachEntry()) {
      if (members.size > MAX_ARCHIVE_MEMBERS) throw tooLarge(`it has more than ${MAX_ARCHIVE_MEMBERS} parts`);
      // Some programs write a slash before names or mix upper and lower case.
      members.set(entry.fileName.replace(/^\//, '').toLowerCase(), entry);
    }
    return new Archive(zip, members);
  }

  has(name: string): boolean {
    return this.members.has(name.toLowerCase());
  }

  /** In the order of their numbers: `slide2` before `slide10`. */
  names(pattern: RegExp): readonly string[] {
    const names = [...this.members.keys()].filter((name) => pattern.test(name));
    return names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  }

  /** Yields nothing if there is no such member. @throws UnreadableDocument */
  async *read(name: string): AsyncGenerator<Buffer> {
    const entry = this.members.get(name.toLowerCase());
    if (!entry) return;
    if (entry.isEncrypted()) throw passwordProtected('file');
    // Refuses a declared size before inflating, if the compressed size makes it possible. Others are counted while inflating.
    const isPossible = entry.uncompressedSize <= entry.compressedSize * MAX_DEFLATE_RATIO;
    if (isPossible && this.inflated + entry.uncompressedSize > MAX_INFLATED_BYTES) throw inflatesTooLarge();
    const stream: Readable = await this.zip.openReadStreamPromise(entry);
    try {
      for await (const part of stream as AsyncIterable<Buffer>) {
        this.inflated += part.length;
        if (this.inflated > MAX_INFLATED_BYTES) throw inflatesTooLarge();
        yield part;
      }
    } finally {
      stream.destroy();
    }
  }
}

function inflatesTooLarge(): UnreadableDocument {
  return tooLarge(`unpacked it has more than ${MAX_INFLATED_BYTES / 1024 / 1024} MB`);
}

function tooLarge(why: string): UnreadableDocument {
  return new UnreadableDocument('too_large', `The file is too large: ${why}.`);
}
