import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the build, both from the compiled service and from its source. */
const BUILD = new URL('../../../dist/', import.meta.url);

const inBuild = (path: string): string => fileURLToPath(new URL(path, BUILD));

/**
 * A text file that the build has created.
 * @param path below `dist/`
 * @throws Error if it has not been built
 */
export function builtFile(path: string): string {
  return readFileSync(inBuild(path), 'utf8');
}

/**
 * The names of the files in a folder that the build has created.
 * @param path below `dist/`
 * @throws Error if it has not been built
 */
export function builtFileNames(path: string): string[] {
  return readdirSync(inBuild(path));
}
