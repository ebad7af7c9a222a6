import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { type ContextSchema, migrationsOf } from './schema.js';

/** The database that the build prepares for first starts, because `initdb` takes longer than the rest of a start. */
export const PREPARED_DATABASE = new URL('../../../dist/database.zst', import.meta.url);

/** The packages that determine the format of a database's files. */
const PACKAGES = ['@electric-sql/pglite', '@electric-sql/pglite-pgvector'];

const FORMAT = 3;

interface PreparedDatabase {
  readonly version: string;
  /** Contents by path below the folder; null for a folder, which precedes its files. */
  readonly files: ReadonlyMap<string, Uint8Array | null>;
}

/** Changes with the version of the database and with any migration, so that a first start does not use an outdated file. */
export function preparedVersion(schemas: readonly ContextSchema[]): string {
  const versions = PACKAGES.map((name) => [name, versionOf(name)]);
  const migrations = migrationsOf(schemas).map(({ name, statements }) => [name, statements]);
  return createHash('sha256')
    .update(JSON.stringify([FORMAT, versions, migrations]))
    .digest('hex');
}

function versionOf(name: string): string {
  const manifest = new URL('../package.json', import.meta.resolve(name));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

/** Writes the folder of a closed database into one file. The rename makes the file appear complete or not at all. */
export function prepareDatabase(folder: string, version: string, file: string): void {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(folder.length + 1), entry.isDirectory() ? null : readFileSync(path)] as const;
  });
  const prepared: PreparedDatabase = {
    version,
    files: new Map(entries.sort(([one], [other]) => (one < other ? -1 : 1))),
  };
  const part = `${file}.${process.pid}`;
  writeFileSync(part, zstdCompressSync(serialize(prepared)));
  renameSync(part, file);
}

/**
 * Creates the folder of a new database, with its tables, from the prepared file.
 * @returns false, without creating it, if the file is missing, of another version or unreadable
 */
export function beginPrepared(folder: string, version: string, file: URL | string): boolean {
  const files = readPrepared(file, version);
  if (!files) return false;
  const part = startPart(folder);
  for (const [path, data] of files) {
    if (data) writeFileSync(join(part, path), data, { mode: 0o600 });
    else mkdirSync(join(part, path), { mode: 0o700 });
  }
  renameSync(part, folder);
  return true;
}

/** @returns undefined if the file is missing, of another version or unreadable */
export function readPrepared(file: URL | string, version: string): PreparedDatabase['files'] | undefined {
  try {
    const prepared = deserialize(zstdDecompressSync(readFileSync(file))) as PreparedDatabase;
    return prepared.version === version ? prepared.files : undefined;
  } catch {
    // Missing, truncated, or written by another version of Node: the caller makes a new database instead.
    return undefined;
  }
}

/**
 * Creates the empty folder that the caller fills and then renames, so that the database's folder appears complete or not at all.
 * Deletes the remains of a killed process. Nothing is synced to the disk; the embedded database does not sync either.
 */
export function startPart(folder: string): string {
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { mode: 0o700 });
  return part;
}
