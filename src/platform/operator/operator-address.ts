import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';

/** A socket's path is held in a field of 104 to 108 bytes; a longer one is cut off without a word. */
const MAX_PATH_BYTES = 100;

export interface OperatorAddress {
  readonly path: string;
  /** Set when the socket lies outside the data folder, among other users' temporary files. */
  readonly privateFolder: string | null;
}

/** Where the service on this data folder listens for its operator; the same answer for service and command line. */
export function operatorAddress(dataDir: string): OperatorAddress {
  const inFolder = resolve(dataDir, 'operator.sock');
  if (Buffer.byteLength(inFolder) <= MAX_PATH_BYTES) return { path: inFolder, privateFolder: null };
  const folder = existsSync(dataDir) ? realpathSync(dataDir) : resolve(dataDir);
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 24);
  const privateFolder = join(tmpdir(), `agent-service-${userInfo().uid}`);
  return { path: join(privateFolder, `${name}.sock`), privateFolder };
}

/** Makes the socket's folder where the data folder does not do. */
export function prepareAddress({ privateFolder }: OperatorAddress): void {
  if (privateFolder !== null) mkdirSync(privateFolder, { recursive: true, mode: 0o700 });
}

/**
 * Among temporary files anybody may have made the folder first, to listen in the service's place.
 * @throws Error when it is somebody else's or open to others
 */
export function checkAddress({ privateFolder }: OperatorAddress): void {
  if (privateFolder === null || !existsSync(privateFolder)) return;
  const folder = lstatSync(privateFolder);
  if (!folder.isDirectory() || folder.uid !== userInfo().uid || (folder.mode & 0o077) !== 0) {
    throw new Error(`${privateFolder}: must belong to the user of the service and be closed to everybody else`);
  }
}
