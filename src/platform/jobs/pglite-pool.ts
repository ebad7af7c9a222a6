import { EventEmitter } from 'node:events';
import type { PGlite, QueryOptions, Results, Transaction } from '@electric-sql/pglite';
import { DEFAULT_SCHEMA, type PgPool, type PgPoolClient, type PgQueryable, runMigrations } from 'bullmq';

const INT8 = 20;
const NUMERIC = 1700;
const asText = (text: string): string => text;
/** The results of the PostgreSQL driver, for which the queue is written. */
const OPTIONS: QueryOptions = { parsers: { [INT8]: asText, [NUMERIC]: asText } };

interface QueryResult<Row> {
  rows: Row[];
  rowCount: number;
}

async function run<Row>(
  on: Pick<PGlite | Transaction, 'query' | 'exec'>,
  text: string,
  parameters: readonly unknown[] = [],
): Promise<QueryResult<Row>> {
  // Only the simple protocol executes several statements in one text, and it has no parameters.
  const result =
    parameters.length > 0
      ? await on.query<Row>(text, [...parameters], OPTIONS)
      : ((await on.exec(text, OPTIONS)).at(-1) as Results<Row> | undefined);
  const rows = result?.rows ?? [];
  // A function that changes rows is called by a select, which affects no rows itself.
  const affected = result?.affectedRows ?? 0;
  return { rows, rowCount: affected > 0 ? affected : rows.length };
}

/** Names the connection in the operator's list; here all queues and workers share one. */
const NAME_CONNECTION = /^\s*SELECT set_config\('application_name'/;
/** A query of each queue and worker at its start, about tables that no other process can change. */
const TABLES_VERSION = /\bAS min_client_version\b[^;]*\bFROM \S*\bmigration"?\s*$/;

const LISTEN = /^\s*LISTEN\s+"?(\w+)"?\s*;?\s*$/im;
const SQL_COMMENT = /--.*$/gm;

class PgliteClient extends EventEmitter implements PgPoolClient {
  private readonly unlisten: (() => Promise<void>)[] = [];

  /** @param answered by the text of a query, results that are the same for all clients of a pool */
  constructor(
    protected readonly pglite: PGlite,
    protected readonly answered = new Map<string, Promise<QueryResult<unknown>>>(),
  ) {
    super();
    // Every queue and worker adds a listener; Node would warn of a leak.
    this.setMaxListeners(0);
  }

  async query<Row>(text: string, parameters?: readonly unknown[]): Promise<QueryResult<Row>> {
    if (NAME_CONNECTION.test(text)) return { rows: [], rowCount: 1 };
    const channel = LISTEN.exec(text.replace(SQL_COMMENT, ''))?.[1];
    if (channel === undefined)
      return TABLES_VERSION.test(text) ? this.onceFor(text, parameters) : run<Row>(this.pglite, text, parameters);
    const stop = await this.pglite.listen(channel, (payload) => this.emit('notification', { channel, payload }));
    this.unlisten.push(() => stop());
    return { rows: [], rowCount: 0 };
  }

  private onceFor<Row>(text: string, parameters?: readonly unknown[]): Promise<QueryResult<Row>> {
    const answer = this.answered.get(text) ?? run(this.pglite, text, parameters);
    this.answered.set(text, answer);
    answer.catch(() => this.answered.delete(text));
    return answer as Promise<QueryResult<Row>>;
  }

  release(): void {
    // At a stop the database may be closed first, which ends its subscriptions.
    for (const stop of this.unlisten.splice(0)) void stop().catch(() => undefined);
  }
}

/**
 * A `pg.Pool` over the one connection of the embedded database, as far as the queue uses it. Every query is its own
 * transaction and waits in PGlite for the open transaction of another caller. None is opened here, so other callers wait
 * for the queue only for one statement.
 */
export class PglitePool extends PgliteClient implements PgPool {
  /** Makes the queue rely on notifications, which cannot be lost here, instead of polling. */
  readonly options = { keepAlive: true };

  connect(): Promise<PgPoolClient> {
    return Promise.resolve(new PgliteClient(this.pglite, this.answered));
  }

  /** The queue does not close the database, which others use. */
  end(): Promise<void> {
    return Promise.resolve();
  }
}

const TRANSACTION_COMMAND = /^(BEGIN|COMMIT|ROLLBACK)$/;

/**
 * Creates or updates the queue's tables, and makes its unqualified names resolve on the shared connection. `public` is first,
 * so that the service's names keep their meaning. A table of the service with a name of the queue's would hide it.
 */
export async function migratePglite(pglite: PGlite): Promise<void> {
  await pglite.transaction(async (transaction) => {
    const client: PgQueryable = {
      // PGlite's transaction replaces them: it rolls back when this throws.
      query: <Row>(text: string, parameters?: readonly unknown[]) =>
        TRANSACTION_COMMAND.test(text)
          ? Promise.resolve<QueryResult<Row>>({ rows: [], rowCount: 0 })
          : run<Row>(transaction, text, parameters),
    };
    await runMigrations(client, DEFAULT_SCHEMA);
  });
  await pglite.exec(`set search_path = public, ${DEFAULT_SCHEMA}`);
}
