import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the build, from the compiled service and from its source alike. */
const BUILD = new URL('../../../dist/', import.meta.url);

/**
 * A text that the build has made beside the service.
 * @param path below `dist/`
 * @throws Error when it has not been built
 */
export function builtFile(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, BUILD)), 'utf8');
}
