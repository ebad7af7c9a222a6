import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock/index.js';
import { TEMPORARY_MS } from './limits.js';

/** Empties a folder of temporary files. Other processes may be using it, so only what is old goes. */
export async function removeOld(folder: string, clock: Clock): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const path = join(folder, name);
    const age = await stat(path).then(
      ({ mtime }) => clock.now().getTime() - mtime.getTime(),
      () => 0,
    );
    if (age > TEMPORARY_MS) await rm(path, { force: true });
  }
}
