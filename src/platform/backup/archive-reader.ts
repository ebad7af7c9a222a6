import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { type Entry, extract } from 'tar-stream';
import type { z } from 'zod';
import { codeOf, isDiskFull, messageOf } from '../errors/index.js';
import {
  type BackupDescription,
  backupDescription,
  backupDigests,
  DESCRIPTION,
  DIGESTS,
  isPathOfBackup,
  staysWithItsServer,
} from './archive-format.js';
import { MAX_DESCRIPTION_BYTES, MAX_DIGESTS_BYTES } from './limits.js';

/** Where the content of a backup goes. A path is below the folder: `database/PG_VERSION`. */
export interface BackupReceiver {
  /** Called first. @throws Error when the backup is not to be restored */
  begin(description: BackupDescription): void;
  folder(path: string): Promise<void>;
  /** Replaces an earlier file of this path. */
  file(path: string, content: Readable, mode: number): Promise<void>;
  /** A link that stays in the folder of its tool server. */
  link(path: string, target: string): void;
}

/** The file is no backup, or not all of it is there. */
export class BackupDamaged extends Error {
  constructor(file: string, why: string, cause?: unknown) {
    super(`${file} is not a whole backup: ${why}`, { cause });
  }
}

/** What the file's stream fails with when the reader of the entries fails. */
const ENDED_BY_READER = 'ERR_STREAM_PREMATURE_CLOSE';

/**
 * Reads an archive to its end.
 * @returns the paths of the files that belong to the backup, all of which have been received as they were written
 * @throws BackupDamaged; what the receiver throws
 */
export async function readArchive(file: string, receiver: BackupReceiver): Promise<ReadonlySet<string>> {
  const tar = extract();
  const read = pipeline(createReadStream(file), createZstdDecompress(), tar);
  const contents = new Contents(file, receiver);
  const [fromFile, fromContents] = await Promise.allSettled([read, contents.receive(tar)]);
  // The file's stream fails too where the receiver's disk is full, and says less.
  if (fromContents.status === 'rejected' && isDiskFull(fromContents.reason)) throw fromContents.reason as Error;
  if (fromFile.status === 'rejected' && codeOf(fromFile.reason) !== ENDED_BY_READER)
    throw unreadable(file, fromFile.reason);
  if (fromContents.status === 'rejected') throw fromContents.reason as Error;
  return contents.included();
}

function unreadable(file: string, reason: unknown): Error {
  if (codeOf(reason) === 'ENOENT') return new Error(`${file} does not exist`, { cause: reason });
  return new BackupDamaged(file, messageOf(reason), reason);
}

class Contents {
  private readonly digests = new Map<string, string>();
  private expected: Readonly<Record<string, string>> | undefined;
  private isDescribed = false;

  constructor(
    private readonly archive: string,
    private readonly receiver: BackupReceiver,
  ) {}

  async receive(entries: AsyncIterable<Entry>): Promise<void> {
    for await (const entry of entries) await this.receiveEntry(entry);
  }

  /** @throws BackupDamaged if a file differs from its digest or is missing */
  included(): ReadonlySet<string> {
    const { expected } = this;
    if (!expected) throw new BackupDamaged(this.archive, 'its end is missing');
    const wrong = Object.keys(expected).find((path) => this.digests.get(path) !== expected[path]);
    if (wrong !== undefined) throw new BackupDamaged(this.archive, `${wrong} is missing or differs from its digest`);
    return new Set(Object.keys(expected).filter((path) => path !== DESCRIPTION));
  }

  private async receiveEntry(entry: Entry): Promise<void> {
    const { name, type, size = 0, mode = 0, linkname } = entry.header;
    if (this.expected) throw new BackupDamaged(this.archive, 'something follows its end');
    const digest = createHash('sha256');
    const content = hashed(entry, digest);
    if (name === DESCRIPTION) {
      this.isDescribed = true;
      this.receiver.begin(await this.json(backupDescription, name, content, size, MAX_DESCRIPTION_BYTES));
    } else if (!this.isDescribed) {
      throw new BackupDamaged(this.archive, `it does not begin with ${DESCRIPTION}`);
    } else if (name === DIGESTS) {
      this.expected = await this.json(backupDigests, name, content, size, MAX_DIGESTS_BYTES);
      return;
    } else if (type === 'directory') {
      const path = this.checkedPath(name.replace(/\/$/, ''));
      entry.resume();
      await this.receiver.folder(path);
      return;
    } else if (type === 'symlink' && typeof linkname === 'string' && staysWithItsServer(name, linkname)) {
      digest.update(linkname);
      entry.resume();
      this.receiver.link(this.checkedPath(name), linkname);
    } else {
      if (type !== 'file') throw new BackupDamaged(this.archive, `${name} is neither a file nor a folder`);
      const path = this.checkedPath(name);
      await this.receiver.file(path, content, mode);
    }
    this.digests.set(name, digest.digest('hex'));
  }

  private async json<T>(
    schema: z.ZodType<T>,
    name: string,
    content: Readable,
    size: number,
    maxBytes: number,
  ): Promise<T> {
    if (size > maxBytes) throw new BackupDamaged(this.archive, `${name} is too large`);
    const text = (await buffer(content)).toString();
    const parsed = schema.safeParse(parseJson(text));
    if (!parsed.success) throw new BackupDamaged(this.archive, `${name} cannot be understood`);
    return parsed.data;
  }

  /** @throws BackupDamaged if the path leads elsewhere than a backup of this service does */
  private checkedPath(name: string): string {
    if (isPathOfBackup(name)) return name;
    throw new BackupDamaged(this.archive, `${JSON.stringify(name)} is not a path of a backup`);
  }
}

function hashed(entry: Entry, digest: Hash): Readable {
  const through = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      digest.update(chunk);
      done(null, chunk);
    },
  });
  // A failure of the source must reach the reader of `through`.
  entry.on('error', (error: Error) => through.destroy(error));
  return (entry as unknown as Readable).pipe(through);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
