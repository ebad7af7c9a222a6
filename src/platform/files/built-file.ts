import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the build, both from the compiled service and from its source. */
const BUILD = new URL('../../../dist/', import.meta.url);

/**
 * A text file that the build has created.
 * @param path below `dist/`
 * @throws Error if it has not been built
 */
export function builtFile(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, BUILD)), 'utf8');
}
