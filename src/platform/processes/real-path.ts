import { existsSync, realpathSync } from 'node:fs';

/** Where something really is: what leads to it may be a link. As it stands where there is nothing. */
export function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
