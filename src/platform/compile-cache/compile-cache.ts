import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { constants as moduleConstants, enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

/** Its code is executed, so it must be a folder that only users who may change the program can write to. */
const FOLDER = fileURLToPath(new URL('../../../node_modules/.cache/compile', import.meta.url));
const { ENABLED, ALREADY_ENABLED } = moduleConstants.compileCacheStatus;

/**
 * Caches the compiled code of the modules that are loaded later, for the next starts. Processes may share the folder. A read-only
 * installation uses the cache that it came with.
 * @returns whether the cache is on
 */
export function keepCompiledCode(folder = FOLDER): boolean {
  try {
    // Node hangs on some folders that it cannot create.
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.R_OK | constants.X_OK);
  } catch {
    return false;
  }
  const { status } = enableCompileCache(folder);
  return status === ENABLED || status === ALREADY_ENABLED;
}

/** Compiles the embedded database only with the fast compiler. The optimizing one needs as much processor time as a whole command. */
export function compileForOneCommand(): void {
  // As an option of Node, the first flag implies the others; set at runtime, it does not.
  for (const flag of ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);
}
