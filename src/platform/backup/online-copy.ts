import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { withoutCheckpoints } from '../maintenance/embedded-database.js';
import { DATABASE } from './archive-format.js';
import type { ArchiveWriter } from './archive-writer.js';
import { entriesBelow } from './entries-below.js';
import { type EndOfBackup, startBackup, stopBackup } from './online-backup.sql.js';

/** Folders whose content a start makes again, as in PostgreSQL's own backups; the log is copied last. */
const NOT_COPIED = /^(pg_wal|pg_dynshmem|pg_notify|pg_replslot|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//;
/** Copies of what the tables say, made again; locks of a process; the remains of an interrupted query. */
const TEMPORARY = /(^|\/)(pg_internal\.init[^/]*|postmaster\.(pid|opts)|pgsql_tmp[^/]*)(\/|$)/;
/** Names the checkpoint that a start begins at, so it is copied after all that the checkpoint has written. */
const CONTROL_FILE = 'global/pg_control';
const SEGMENT = /^[0-9A-F]{24}$/;

/**
 * Copies the files of a database that is in use, as PostgreSQL's online backup does: the copies may be torn, and a start repairs them with
 * the write-ahead log between the two calls.
 * @param atEnd called twice, just before and just after the moment whose state a restore shows
 */
export async function copyOnline(
  pglite: PGlite,
  folder: string,
  archive: ArchiveWriter,
  atEnd: () => void,
): Promise<void> {
  await withoutCheckpoints(pglite, async () => {
    const first = await startBackup(pglite);
    const end = await copyThenStop(pglite, folder, archive, atEnd);
    await archive.addText(`${DATABASE}/backup_label`, end.label);
    await copyLog(join(folder, 'pg_wal'), archive, first, end.segment);
  });
}

/** @throws Error when a checkpoint has removed a segment: it removes the oldest first, so the first one stands for all */
async function copyLog(folder: string, archive: ArchiveWriter, first: string, last: string): Promise<void> {
  const segments = (await readdir(folder)).sort();
  if (!segments.includes(first)) {
    throw new Error('a checkpoint has removed the write-ahead log that the backup needs; make the backup again');
  }
  for (const name of segments) {
    if (!SEGMENT.test(name) || name < first || name > last) continue;
    await archive.addFile(`${DATABASE}/pg_wal/${name}`, join(folder, name));
  }
}

async function copyThenStop(
  pglite: PGlite,
  folder: string,
  archive: ArchiveWriter,
  atEnd: () => void,
): Promise<EndOfBackup> {
  try {
    await copyFiles(folder, archive);
  } catch (error) {
    await stopBackup(pglite);
    throw error;
  }
  atEnd();
  const end = await stopBackup(pglite);
  atEnd();
  return end;
}

async function copyFiles(folder: string, archive: ArchiveWriter): Promise<void> {
  archive.addFolder(DATABASE);
  const entries = (await entriesBelow(folder)).filter(({ path }) => !NOT_COPIED.test(path) && !TEMPORARY.test(path));
  for (const { path, isFolder } of entries) {
    if (isFolder) archive.addFolder(`${DATABASE}/${path}`);
    else if (path !== CONTROL_FILE) await archive.addFile(`${DATABASE}/${path}`, join(folder, path));
  }
  await archive.addFile(`${DATABASE}/${CONTROL_FILE}`, join(folder, CONTROL_FILE));
}
