import { existsSync, realpathSync } from 'node:fs';

/** The path without symbolic links; unchanged if it does not exist. */
export function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
