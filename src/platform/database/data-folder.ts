import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { InvalidSetting, StartFailure } from '../config/index.js';

/** Another process works in the folder; `message` is the line the operator reads. */
export class DataFolderInUse extends StartFailure {}

/**
 * Takes a data folder for this process. The lock is one the operating system holds on an open
 * file, so it ends with the process however that dies, and no stale lock is ever left to judge.
 * @throws InvalidSetting when the folder cannot be written to
 * @throws DataFolderInUse when another process has it: two on one folder would lose writes silently.
 */
export function takeDataFolder(dataDir: string): () => void {
  const file = join(dataDir, 'service.lock');
  const lock = openLockFile(dataDir, file);
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
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
    const reason = error instanceof Error ? error.message : String(error);
    throw new InvalidSetting(`DATA_DIR: ${resolve(dataDir)} cannot be written to: ${reason}`, { cause: error });
  }
}
