import { accessSync, constants, mkdirSync } from 'node:fs';
import { constants as moduleConstants, enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

/** Code is run from it, so it is where only those write who may change the program itself: never a folder for all. */
const FOLDER = fileURLToPath(new URL('../../../node_modules/.cache/compile', import.meta.url));
const { ENABLED, ALREADY_ENABLED } = moduleConstants.compileCacheStatus;

/**
 * Keeps what is compiled of the modules that are loaded from now on, for later starts; processes may share the folder.
 * Where the installation is not to be written to, each start compiles them again.
 * @returns whether it is kept
 */
export function keepCompiledCode(folder = FOLDER): boolean {
  try {
    // Node itself never comes back from some folders that it cannot make.
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch {
    return false;
  }
  const { status } = enableCompileCache(folder);
  return status === ENABLED || status === ALREADY_ENABLED;
}

/**
 * Leaves the embedded database's code as the fast compiler makes it. The optimizing compiler takes as much processor time as
 * a whole command, and is done when the command is.
 */
export function compileForOneCommand(): void {
  // The first implies the others where it is given to Node; set later it does not.
  for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
}
