import type { PGlite } from '@electric-sql/pglite';

/**
 * Has the timers that PostgreSQL sets for its statistics, one after the other, keep no process alive: a database that a
 * test leaves open for the next one would.
 * @param pglite that has been loaded and not yet begun
 */
export function unrefTimers(pglite: PGlite): void {
  const execute = pglite.execProtocolRawSync.bind(pglite);
  pglite.execProtocolRawSync = (...given) => withUnrefedTimers(() => execute(...given));
  const { Module: module } = pglite;
  const begin = module.callMain.bind(module);
  module.callMain = (...given) => withUnrefedTimers(() => begin(...given));
}

/** PostgreSQL runs to the end before anything else does, so that the timers which are set meanwhile are its own. */
function withUnrefedTimers<Result>(work: () => Result): Result {
  const { setTimeout } = globalThis;
  const unrefed = (callback: () => void, ms: number): NodeJS.Timeout =>
    setTimeout(() => {
      withUnrefedTimers(callback);
    }, ms).unref();
  Object.assign(globalThis, { setTimeout: unrefed });
  try {
    return work();
  } finally {
    Object.assign(globalThis, { setTimeout });
  }
}
