import { setImmediate as nextTask } from 'node:timers/promises';
import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  PluginTransformResultArgs,
  QueryResult,
  RootOperationNode,
  UnknownRow,
} from 'kysely';

/** After a statement that kept this thread for longer, other requests have their turn before the next. */
const LONG_STATEMENT_MS = 5;

/**
 * For one transaction of the embedded database, which computes in this thread: the ORM's statements and written ones
 * alike. For transactions alone: what follows a single statement must not be parted from it.
 */
export class LeaveTheLoop implements KyselyPlugin {
  /** When the statement before ended; in a transaction nothing but the database is awaited. */
  private since = performance.now();

  transformQuery({ node }: PluginTransformQueryArgs): RootOperationNode {
    return node;
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    if (performance.now() - this.since > LONG_STATEMENT_MS) await nextTask();
    this.since = performance.now();
    return result;
  }
}
