import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { readlink, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import type { Clock } from '../clock/index.js';
import type { Settings } from '../config/index.js';
import type { OpenDatabase } from '../database/index.js';
import { KEY_FILES } from '../vault/index.js';
import {
  CONTENTS,
  DATABASE,
  describeBackup,
  DESCRIPTION,
  FILES,
  INTEGRATIONS,
  staysWithItsServer,
} from './archive-format.js';
import { ArchiveWriter } from './archive-writer.js';
import { allBelow, entriesBelow } from './entries-below.js';
import { newestMigration } from './online-backup.sql.js';
import { copyOnline } from './online-copy.js';
import { serviceVersion } from './service-version.js';

export interface Backup {
  readonly file: string;
  readonly bytes: number;
  readonly schema: string | null;
  readonly createdAt: string;
  /** Without `DATA_DIR/files`, uploads are in a bucket, which has to be copied too. */
  readonly uploads: number | 'bucket';
  /** None: no service has run on the folder. */
  readonly secretsKey: 'included' | 'SECRETS_KEY' | 'none';
  /** What local tool servers keep and no backup holds, below `DATA_DIR`: links that lead out of a server's folder, sockets and the like. */
  readonly leftOut: readonly string[];
}

export interface BackupSource {
  readonly settings: Pick<Settings, 'dataDir' | 'filesBucket' | 'secretsKey'>;
  readonly open: OpenDatabase;
  readonly clock: Clock;
  readonly printProgress?: (line: string) => void;
}

/** The keys at two moments, between which a rotation may have added or removed one. */
type Keys = Readonly<Partial<Record<keyof typeof KEY_FILES, string>>>;

let isRunning = false;

/**
 * Writes an archive of the embedded database, the uploads and the key that decrypts the secrets, while the service works on.
 * @throws Error when the file exists, cannot be written or would be part of what it holds
 */
export async function makeBackup(source: BackupSource, file: string): Promise<Backup> {
  const { native } = source.open;
  if (native.kind !== 'embedded')
    throw new Error('DATABASE_URL is set: back up that server with its own tools, as docs/guide/backup.md describes');
  refuseToCopyItself(resolve(source.settings.dataDir), file);
  if (isRunning) throw new Error('another backup of this service is running');
  isRunning = true;
  try {
    const archive = ArchiveWriter.create(file);
    try {
      return await write(source, native.pglite, file, archive);
    } catch (error) {
      throw await archive.discard(error);
    }
  } finally {
    isRunning = false;
  }
}

function refuseToCopyItself(dataDir: string, file: string): void {
  const parent = dirname(resolve(file));
  const [from, to] = [dataDir, parent].map((path) => (existsSync(path) ? realpathSync(path) : path));
  const [inside = ''] = relative(from ?? '', to ?? '').split(sep);
  if (CONTENTS.some((folder) => folder === inside))
    throw new Error(`${file} is in a folder that the backup copies; name a file elsewhere`);
}

async function write(source: BackupSource, pglite: PGlite, file: string, archive: ArchiveWriter): Promise<Backup> {
  const { settings, clock, printProgress: print } = source;
  const dataDir = resolve(settings.dataDir);
  const createdAt = clock.now().toISOString();
  const schema = await newestMigration(source.open.database);
  await archive.addText(DESCRIPTION, JSON.stringify(describeBackup({ service: serviceVersion(), schema, createdAt })));

  // Most uploads are copied first, so that the database, whose log grows meanwhile, is copied within a short time.
  const uploads = new Uploads(join(dataDir, FILES), archive);
  if (!settings.filesBucket) {
    print?.('copying the uploads');
    await uploads.copyNew();
  }
  print?.('copying the database');
  const keys: Keys[] = [];
  await copyOnline(pglite, join(dataDir, DATABASE), archive, () => keys.push(keysIn(dataDir)));
  if (!settings.filesBucket) await uploads.copyNew();
  const leftOut = await copyIntegrations(dataDir, archive);
  // Also beside a setting, which may be one of another installation.
  const keyFiles = await addKeys(archive, keys);
  const bytes = await archive.complete((name) => !name.startsWith(`${FILES}/`) || uploads.has(name));
  return {
    ...{ file, bytes, schema, createdAt },
    uploads: settings.filesBucket ? 'bucket' : uploads.count,
    secretsKey: settings.secretsKey === undefined ? keyFiles : 'SECRETS_KEY',
    leftOut,
  };
}

/** The uploads of the moment of the last `copyNew`. */
class Uploads {
  private copied = new Map<string, string>();

  constructor(
    private readonly folder: string,
    private readonly archive: ArchiveWriter,
  ) {}

  get count(): number {
    return this.copied.size;
  }

  has(name: string): boolean {
    return this.copied.has(name);
  }

  /** Copies what was stored since the last call, and forgets what was removed. */
  async copyNew(): Promise<void> {
    const before = this.copied;
    this.copied = new Map();
    for (const { path, isFolder } of await entriesBelow(this.folder)) {
      // Drafts of uploads.
      if (isFolder || path.startsWith('.')) continue;
      const name = `${FILES}/${path}`;
      const version = await versionOf(join(this.folder, path));
      if (version === undefined) continue;
      const isHere = before.get(name) === version || (await this.archive.addFile(name, join(this.folder, path)));
      if (isHere) this.copied.set(name, version);
    }
  }
}

/** Changes when the file is replaced; undefined when there is none. */
async function versionOf(path: string): Promise<string | undefined> {
  const file = await stat(path).catch(() => undefined);
  return file && `${file.ino} ${file.mtimeMs} ${file.size}`;
}

/** @returns the paths, below DATA_DIR, of what is left out: links that lead elsewhere, sockets and the like */
async function copyIntegrations(dataDir: string, archive: ArchiveWriter): Promise<readonly string[]> {
  const leftOut: string[] = [];
  for (const { path, kind } of await allBelow(join(dataDir, INTEGRATIONS))) {
    const name = `${INTEGRATIONS}/${path}`;
    if (kind === 'folder') archive.addFolder(name);
    else if (kind === 'file') await archive.addFile(name, join(dataDir, name), true);
    else {
      const target = kind === 'link' ? await readlink(join(dataDir, name)).catch(() => undefined) : undefined;
      if (target !== undefined && staysWithItsServer(name, target)) archive.addLink(name, target);
      else leftOut.push(name);
    }
  }
  return leftOut;
}

function keysIn(dataDir: string): Keys {
  const read = (name: string): string | undefined => {
    try {
      return readFileSync(join(dataDir, name), 'utf8');
    } catch {
      return undefined;
    }
  };
  return { current: read(KEY_FILES.current), next: read(KEY_FILES.next) };
}

/** Each key that any secret in the database may need: a rotation may have begun or ended between the two moments. */
async function addKeys(archive: ArchiveWriter, [before, after]: readonly Keys[]): Promise<'included' | 'none'> {
  const current = before?.current ?? after?.current;
  const next = before?.next ?? after?.next ?? (after?.current === current ? undefined : after?.current);
  if (current === undefined) return 'none';
  await archive.addText(KEY_FILES.current, current);
  if (next !== undefined) await archive.addText(KEY_FILES.next, next);
  return 'included';
}
