import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { ContextSchema } from './schema.js';

/** What the build leaves for first starts: making a database takes longer than everything else in them. */
export const PREPARED_DATABASE = new URL('../../../dist/database.zst', import.meta.url);

/** The packages that decide what the files of a database look like. */
const PACKAGES = ['@electric-sql/pglite', '@electric-sql/pglite-pgvector'];

/** Raised when the build makes it in another way. */
const MADE_AS = 2;

interface PreparedDatabase {
  readonly version: string;
  /** By their paths below the folder; null for a folder, which comes before what is in it. */
  readonly files: ReadonlyMap<string, Uint8Array | null>;
}

/** Changes with the database's own version and with any migration: a folder that was prepared for another is not begun with. */
export function preparedVersion(schemas: readonly ContextSchema[]): string {
  const versions = PACKAGES.map((name) => [name, versionOf(name)]);
  const migrations = schemas.flatMap((schema) => schema.migrations.map(({ name, statements }) => [name, statements]));
  return createHash('sha256').update(JSON.stringify([MADE_AS, versions, migrations])).digest('hex');
}

function versionOf(name: string): string {
  const manifest = new URL('../package.json', import.meta.resolve(name));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

/** Keeps a closed database's folder in one file, which is there whole or not at all. */
export function prepareDatabase(folder: string, version: string, file: string): void {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(folder.length + 1), entry.isDirectory() ? null : readFileSync(path)] as const;
  });
  const prepared: PreparedDatabase = { version, files: new Map(entries.sort(([one], [other]) => (one < other ? -1 : 1))) };
  const part = `${file}.${process.pid}`;
  writeFileSync(part, zstdCompressSync(serialize(prepared)));
  renameSync(part, file);
}

/**
 * Makes the folder of a new database, with its tables, as the build has prepared it.
 * @returns false, with nothing made, where nothing was prepared, or for another version, or it cannot be read
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

/** @returns undefined where there is none of this version */
export function readPrepared(file: URL | string, version: string): PreparedDatabase['files'] | undefined {
  try {
    const prepared = deserialize(zstdDecompressSync(readFileSync(file))) as PreparedDatabase;
    return prepared.version === version ? prepared.files : undefined;
  } catch {
    // Not built, cut off, or written by another version of Node: a new database is made instead.
    return undefined;
  }
}

/**
 * Where a folder is made before it is renamed: so it is there only when it is whole, and a part that a killed process has
 * left is removed. Nothing is forced to the disk, as the embedded database itself forces nothing.
 */
export function startPart(folder: string): string {
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { mode: 0o700 });
  return part;
}
