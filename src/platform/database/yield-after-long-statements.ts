import { setImmediate as nextTask } from 'node:timers/promises';
import type { KyselyPlugin } from 'kysely';

/** After a statement that blocked this thread for longer, other requests are handled before the next one. */
const LONG_STATEMENT_MS = 5;

/**
 * For a transaction of the embedded database, which executes in this thread: applies to the ORM's statements and written ones.
 * Not for single statements, whose caller must continue without an interruption.
 */
export class YieldAfterLongStatements implements KyselyPlugin {
  /** When the previous statement ended; a transaction awaits nothing but the database. */
  private since = performance.now();

  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => node;

  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => {
    if (performance.now() - this.since > LONG_STATEMENT_MS) await nextTask();
    this.since = performance.now();
    return result;
  };
}
