import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { InvalidSetting, StartFailure } from '../config/index.js';
import { messageOf } from '../errors/index.js';

/** Another process has the lock. */
const SQLITE_BUSY = 5;

/** Another process uses the folder; `message` is the line that the operator reads. */
export class DataFolderInUse extends StartFailure {}

/** Where a restore collects what it then moves into the data folder. */
export function restoreFolder(dataDir: string): string {
  return join(dataDir, '.restore');
}

/** @throws InvalidSetting if a restore into the folder has begun and not ended */
export function refuseHalfRestored(dataDir: string): void {
  if (!existsSync(restoreFolder(dataDir))) return;
  throw new InvalidSetting(`DATA_DIR: a restore into ${resolve(dataDir)} was interrupted; run it again`);
}

/** @throws InvalidSetting if no service has run on the folder */
export function requireDatabaseIn(dataDir: string): void {
  refuseHalfRestored(dataDir);
  if (existsSync(join(dataDir, 'database'))) return;
  throw new InvalidSetting(`DATA_DIR: ${resolve(dataDir)} holds no database; name the folder of the service`);
}

/**
 * Locks a data folder for this process. The operating system's lock on an open file ends with the process, so no stale lock remains.
 * @throws InvalidSetting if the folder is not writable
 * @throws DataFolderInUse if another process has it: two processes on one folder would lose writes silently
 */
export function takeDataFolder(dataDir: string): () => void {
  const file = join(dataDir, 'service.lock');
  const lock = openLockFile(dataDir, file);
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    // Anything else is a disk that is full or fails.
    if ((error as { readonly errcode?: unknown }).errcode !== SQLITE_BUSY) throw notWritable(dataDir, error);
    throw new DataFolderInUse(
      `DATA_DIR: another process is already running on ${resolve(dataDir)}; stop it, or give this one a folder of its own`,
      { cause: error },
    );
  }
  chmodSync(file, 0o600);
  return () => {
    lock.close();
  };
}

function openLockFile(dataDir: string, file: string): DatabaseSync {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    return new DatabaseSync(file);
  } catch (error) {
    throw notWritable(dataDir, error);
  }
}

function notWritable(dataDir: string, cause: unknown): InvalidSetting {
  return new InvalidSetting(`DATA_DIR: ${resolve(dataDir)} cannot be written to: ${messageOf(cause)}`, { cause });
}
