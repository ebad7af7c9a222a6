import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { InvalidSetting, StartFailure } from '../config/index.js';

/** Another process uses the folder; `message` is the line that the operator reads. */
export class DataFolderInUse extends StartFailure {}

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
