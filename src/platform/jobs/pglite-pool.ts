import { EventEmitter } from 'node:events';
import type { PGlite, QueryOptions, Results, Transaction } from '@electric-sql/pglite';
import { DEFAULT_SCHEMA, type PgPool, type PgPoolClient, type PgQueryable, runMigrations } from 'bullmq';

const INT8 = 20;
const NUMERIC = 1700;
const asText = (text: string): string => text;
/** As the PostgreSQL driver, which the queue was written for, answers them. */
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
  // Several statements in one text go over the simple protocol only; that takes no parameters.
  const result =
    parameters.length > 0
      ? await on.query<Row>(text, [...parameters], OPTIONS)
      : ((await on.exec(text, OPTIONS)).at(-1) as Results<Row> | undefined);
  const rows = result?.rows ?? [];
  // A function that changes rows is called by a select, which affects none itself.
  const affected = result?.affectedRows ?? 0;
  return { rows, rowCount: affected > 0 ? affected : rows.length };
}

/** Told for an operator's list of connections; this database has one, which all queues and workers would name in turn. */
const NAME_CONNECTION = /^\s*SELECT set_config\('application_name'/;
/** Asked by each queue and worker as it starts, of tables that no other process can change. */
const TABLES_VERSION = /\bAS min_client_version\b[^;]*\bFROM \S*\bmigration"?\s*$/;

const LISTEN = /^\s*LISTEN\s+"?(\w+)"?\s*;?\s*$/im;
const SQL_COMMENT = /--.*$/gm;

/** What the queue calls a client of its own: here a view of the one connection, with its own notifications. */
class PgliteClient extends EventEmitter implements PgPoolClient {
  private readonly unlisten: (() => Promise<void>)[] = [];

  /** @param answered by the text of a query, what all clients of a pool are answered alike */
  constructor(
    protected readonly pglite: PGlite,
    protected readonly answered = new Map<string, Promise<QueryResult<unknown>>>(),
  ) {
    super();
    // Every queue and worker adds a listener; their number is no leak.
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
    // While the process stops the database may be closed first, and its subscriptions are gone with it.
    for (const stop of this.unlisten.splice(0)) void stop().catch(() => undefined);
  }
}

/**
 * A `pg.Pool` over the one connection of the embedded database, as far as the queue uses it. Every query is its own
 * transaction and waits, in PGlite, for an open transaction of anyone else to end; none is ever opened here, so the
 * queue never makes others wait for more than a statement.
 */
export class PglitePool extends PgliteClient implements PgPool {
  /** Tells the queue that a notification cannot be lost unnoticed, so that it need not ask again and again. */
  readonly options = { keepAlive: true };

  connect(): Promise<PgPoolClient> {
    return Promise.resolve(new PgliteClient(this.pglite, this.answered));
  }

  /** The database is not the queue's to close. */
  end(): Promise<void> {
    return Promise.resolve();
  }
}

const TRANSACTION_COMMAND = /^(BEGIN|COMMIT|ROLLBACK)$/;

/**
 * Makes or updates the queue's tables, and makes its unqualified names resolve on the shared connection. `public`
 * stays first: the service's own names must keep their meaning. None of them may be one of the queue's, or hides it.
 */
export async function migratePglite(pglite: PGlite): Promise<void> {
  await pglite.transaction(async (transaction) => {
    const client: PgQueryable = {
      // PGlite's own transaction is the transaction: it rolls back when this throws.
      query: <Row>(text: string, parameters?: readonly unknown[]) =>
        TRANSACTION_COMMAND.test(text)
          ? Promise.resolve<QueryResult<Row>>({ rows: [], rowCount: 0 })
          : run<Row>(transaction, text, parameters),
    };
    await runMigrations(client, DEFAULT_SCHEMA);
  });
  await pglite.exec(`set search_path = public, ${DEFAULT_SCHEMA}`);
}
