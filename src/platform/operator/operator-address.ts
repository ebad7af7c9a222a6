import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';

/** Systems keep the path of a socket in 104 to 108 bytes, and cut off a longer one without an error. */
const MAX_PATH_BYTES = 100;

export interface OperatorAddress {
  readonly path: string;
  /** Set when the socket is outside the data folder, among the temporary files of all users. */
  readonly privateFolder: string | null;
}

/** Where the service on this data folder listens for operator commands. */
export function operatorAddress(dataDir: string): OperatorAddress {
  const inFolder = resolve(dataDir, 'operator.sock');
  if (Buffer.byteLength(inFolder) <= MAX_PATH_BYTES) return { path: inFolder, privateFolder: null };
  const folder = existsSync(dataDir) ? realpathSync(dataDir) : resolve(dataDir);
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 24);
  const privateFolder = join(tmpdir(), `agent-service-${userInfo().uid}`);
  return { path: join(privateFolder, `${name}.sock`), privateFolder };
}

export function prepareAddress({ privateFolder }: OperatorAddress): void {
  if (privateFolder !== null) mkdirSync(privateFolder, { recursive: true, mode: 0o700 });
}

/**
 * Another user may have created the folder first, to listen instead of the service.
 * @throws Error when the folder belongs to another user or is accessible to others
 */
export function checkAddress({ privateFolder }: OperatorAddress): void {
  if (privateFolder === null || !existsSync(privateFolder)) return;
  const folder = lstatSync(privateFolder);
  if (!folder.isDirectory() || folder.uid !== userInfo().uid || (folder.mode & 0o077) !== 0) {
    throw new Error(`${privateFolder}: must belong to the user of the service and be inaccessible to other users`);
  }
}
