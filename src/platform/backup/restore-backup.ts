import { createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Settings } from '../config/index.js';
import { restoreFolder, takeDataFolder } from '../database/data-folder.js';
import { startPglite } from '../database/embedded-database.js';
import { lacksRoom } from '../database/free-space.js';
import { isDiskFull, messageOf } from '../errors/index.js';
import { KEY_FILES } from '../vault/index.js';
import { type BackupDescription, DATABASE, FILES, INTEGRATIONS } from './archive-format.js';
import { BackupDamaged, type BackupReceiver, readArchive } from './archive-reader.js';
import { entriesBelow } from './entries-below.js';
import { serviceVersion } from './service-version.js';

export interface Restored {
  readonly file: string;
  readonly dataDir: string;
  readonly schema: string | null;
  readonly createdAt: string;
  readonly uploads: number;
  /** None: the backup has no key; the service needs the `SECRETS_KEY` of the time of the backup, if it had one. */
  readonly secretsKey: 'restored' | 'none';
}

export interface RestoreTarget {
  readonly settings: Pick<Settings, 'dataDir' | 'embedded'>;
  /** The migrations of this build, in order. */
  readonly migrations: readonly string[];
  readonly printProgress: (line: string) => void;
}

/** The database comes last: where it is missing, the folder has begun to be restored and no more. */
const IN_ORDER = [FILES, INTEGRATIONS, KEY_FILES.next, KEY_FILES.current, DATABASE];
/** What a process leaves in a folder that it has begun to use, and a file system at the top of a new volume. */
const IN_NEW_FOLDERS = /^(service\.lock.*|operator\.sock|lost\+found)$/;

/**
 * Fills an empty `DATA_DIR` with a backup. Until all of it is there, and its database has started, no service starts on the folder.
 * @throws DataFolderInUse; BackupDamaged; Error when the folder is not empty, or the backup is of a newer version
 */
export async function restoreBackup(target: RestoreTarget, file: string): Promise<Restored> {
  const { settings, printProgress } = target;
  if (!settings.embedded)
    throw new Error('DATABASE_URL is set: restore that server with its own tools, as docs/guide/backup.md describes');
  const dataDir = resolve(settings.dataDir);
  const release = takeDataFolder(dataDir);
  try {
    await requireEmpty(dataDir);
    const part = restoreFolder(dataDir);
    const receiver = new Receiver(part, target.migrations);
    try {
      await clear(dataDir);
      await mkdir(part, { mode: 0o700 });
      printProgress('reading the backup');
      const included = await readArchive(file, receiver);
      await receiver.dropOthers(included);
      await receiver.makeLinks(included);
      printProgress('starting the database');
      await startOnce(file, join(part, DATABASE));
    } catch (error) {
      await rm(part, { recursive: true, force: true });
      if (isDiskFull(error))
        throw new Error(`DATA_DIR: no space is left in ${dataDir} for this backup`, { cause: error });
      throw error;
    }
    const uploads = (await entriesBelow(join(part, FILES))).filter(({ isFolder }) => !isFolder).length;
    const hasKey = existsSync(join(part, KEY_FILES.current));
    await moveInto(dataDir, part);
    const { schema = null, createdAt = '' } = receiver.description ?? {};
    return { ...{ file, dataDir, schema, createdAt, uploads }, secretsKey: hasKey ? 'restored' : 'none' };
  } finally {
    release();
  }
}

/** What an interrupted restore left does not count: it began in an empty folder. */
async function requireEmpty(dataDir: string): Promise<void> {
  if (existsSync(restoreFolder(dataDir))) return;
  for (const name of await readdir(dataDir)) {
    if (IN_NEW_FOLDERS.test(name) || (name === FILES && (await entriesBelow(join(dataDir, name))).length === 0))
      continue;
    throw new Error(
      `DATA_DIR: ${dataDir} is not empty (${name}); name an empty folder, so that a restore replaces nothing`,
    );
  }
}

async function clear(dataDir: string): Promise<void> {
  for (const name of IN_ORDER) await rm(join(dataDir, name), { recursive: true, force: true });
  await rm(restoreFolder(dataDir), { recursive: true, force: true });
}

/** @throws BackupDamaged. Replays the log of the backup, so that the folder is one of a database that was closed. */
async function startOnce(file: string, folder: string): Promise<void> {
  try {
    const pglite = await startPglite({ dataDir: folder });
    await pglite.close();
  } catch (error) {
    // The database does not say what it could not write.
    if (await lacksRoom(folder)) throw new Error('No space left on device', { cause: error });
    throw new BackupDamaged(file, `its database does not start (${messageOf(error)})`, error);
  }
}

/** A service does not start while the folder of the restore is there, so it sees all of these renames or none. */
async function moveInto(dataDir: string, part: string): Promise<void> {
  for (const name of IN_ORDER) {
    if (existsSync(join(part, name))) await rename(join(part, name), join(dataDir, name));
  }
  await syncFolder(dataDir);
  await rm(part, { recursive: true });
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}

class Receiver implements BackupReceiver {
  description: BackupDescription | undefined;
  private readonly links = new Map<string, string>();

  constructor(
    private readonly root: string,
    private readonly migrations: readonly string[],
  ) {}

  begin(description: BackupDescription): void {
    const { schema, service } = description;
    const newest = this.migrations.at(-1) ?? '';
    if (schema !== null && schema > newest) {
      throw new Error(
        `the backup was made by a newer version (${service}, schema ${schema}) than this one (${serviceVersion()}, schema ${newest}); install that version`,
      );
    }
    this.description = description;
  }

  async folder(path: string): Promise<void> {
    await mkdir(join(this.root, path), { recursive: true, mode: 0o700 });
  }

  async file(path: string, content: NodeJS.ReadableStream, mode: number): Promise<void> {
    await this.folder(dirname(path));
    // The embedded database does not sync its files either.
    const flush = !path.startsWith(`${DATABASE}/`);
    await pipeline(content, createWriteStream(join(this.root, path), { mode: 0o600, flush }));
    if (path.startsWith(`${INTEGRATIONS}/`)) await chmod(join(this.root, path), mode & 0o777);
  }

  link(path: string, target: string): void {
    this.links.set(path, target);
  }

  /** After all files and folders, so that none is written through a link. */
  async makeLinks(included: ReadonlySet<string>): Promise<void> {
    const links = [...this.links].filter(([path]) => included.has(path));
    for (const [path] of links) await this.folder(dirname(path));
    for (const [path, target] of links) await symlink(target, join(this.root, path));
  }

  /** Removes the files that were removed while the backup was made. */
  async dropOthers(included: ReadonlySet<string>): Promise<void> {
    for (const { path, isFolder } of await entriesBelow(this.root)) {
      if (!isFolder && !included.has(path)) await rm(join(this.root, path));
    }
  }
}
