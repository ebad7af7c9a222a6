import type { EntityManager as CoreEntityManager, MikroORM } from '@mikro-orm/core';
import type { AbstractSqlConnection, EntityManager } from '@mikro-orm/sql';
import { CompiledQuery, type Kysely, type Transaction as KyselyTransaction } from 'kysely';
import { setImmediate as nextTask } from 'node:timers/promises';
import type { Pool } from 'pg';
import { withoutValues } from '../errors/index.js';
import { databaseFailure, isDeadlock, isStatementLost } from './database-failure.js';
import type { StatementNames } from './preparing-client.js';
import { YieldAfterLongStatements } from './yield-after-long-statements.js';

/** Runs SQL with `$1`-style parameters. Timestamps are returned as PostgreSQL text (`toDate`). */
export interface SqlExecutor {
  query<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

export interface EntityReader {
  read<Result>(work: (em: EntityManager) => Promise<Result>): Promise<Result>;
}

/** An open transaction: a unit of work and raw SQL on the same connection. */
export interface Transaction extends SqlExecutor, EntityReader {
  readonly em: EntityManager;
  /** Waits for the lock of this name, which all processes share, and holds it until the transaction ends. */
  lock(name: string): Promise<void>;
  /** Runs `task` once the transaction has committed, and never if it does not. `task` must not throw. */
  onCommit(task: () => void): void;
}

/** After a deadlock, and after a pooler has mixed up prepared statements, which then are no longer named. */
const MAX_RETRIES = 3;
/** Consecutive statements that block this thread for longer yield to other tasks, even if each is short. */
const LONG_TASK_MS = 25;

/**
 * The only way to the database. Nothing else may be awaited inside `transaction`: the embedded
 * database has a single connection, and a query outside the transaction would wait for itself.
 */
export class Database implements SqlExecutor, EntityReader {
  private statements = 0;
  /** When the first statement of the event loop's current turn was sent. */
  private taskBeganAt: number | undefined;

  /**
   * @param pool of the server; undefined for the embedded database
   * @param names of the statements that the pool's connections prepare
   */
  constructor(
    readonly orm: MikroORM,
    private readonly pool?: Pool,
    private readonly names?: StatementNames,
  ) {}

  /** How many statements were sent past the ORM; tests limit the cost of a request with it. */
  get statementCount(): number {
    return this.statements;
  }

  async query<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    this.statements += 1;
    if (this.taskIsLong()) await nextTask();
    return this.retrying(() => named(sql, this.runAlone<Row>(sql, parameters)));
  }

  /** Rejects if the database does not respond. */
  async ping(): Promise<void> {
    await this.query('select 1');
  }

  /** Runs `work` in its own unit of work without a transaction, and again after a deadlock. */
  async read<Result>(work: (em: EntityManager) => Promise<Result>): Promise<Result> {
    if (this.taskIsLong()) await nextTask();
    return this.retrying(() => work(this.em()));
  }

  /** As `read`, for a write that is one statement (`insert`, `nativeUpdate`) and so a transaction of its own. */
  write<Result>(statement: (em: EntityManager) => Promise<Result>): Promise<Result> {
    return this.read(statement);
  }

  /**
   * Runs `work` in one transaction, and again after a deadlock, at most three times; so `work` must not have effects outside
   * the database.
   */
  async transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.retrying(() => this.attempt(work));
  }

  private async retrying<Result>(attemptOnce: () => Promise<Result>): Promise<Result> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await attemptOnce();
      } catch (error) {
        const isLost = isStatementLost(error);
        if (isLost) this.names?.stop();
        if (!(isLost || isDeadlock(error)) || attempt >= MAX_RETRIES) throw databaseFailure(error);
      }
    }
  }

  private em(): EntityManager {
    return this.orm.em.fork() as CoreEntityManager as EntityManager;
  }

  /** Not the ORM's `transactional`, which never releases a connection that was lost. */
  private async attempt<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const em = this.em();
    const committed: (() => void)[] = [];
    try {
      const result = await this.client()
        .transaction()
        .execute(async (transaction) => {
          em.setTransactionContext(
            this.inThisThread ? transaction.withPlugin(new YieldAfterLongStatements()) : transaction,
          );
          const done = await work(this.bind(em, committed));
          await em.flush();
          return done;
        });
      for (const task of committed) task();
      return result;
    } finally {
      em.resetTransactionContext();
    }
  }

  private bind(em: EntityManager, committed: (() => void)[]): Transaction {
    const query = async <Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> => {
      this.statements += 1;
      if (this.taskIsLong()) await nextTask();
      const transaction = em.getTransactionContext<KyselyTransaction<unknown>>();
      if (!transaction) throw new Error('The transaction has ended');
      return named(sql, this.run<Row>(transaction, sql, parameters));
    };
    return {
      em,
      query,
      read: (work) => work(em),
      lock: async (name) => {
        await query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
      },
      onCommit: (task) => {
        committed.push(task);
      },
    };
  }

  /** On a server past the query builder, whose layers cost as much as the driver does. */
  private async runAlone<Row extends object>(sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    if (!this.pool) return this.run<Row>(this.client(), sql, parameters);
    const connection = await this.pool.connect();
    try {
      return (await connection.query<Row>(sql, [...parameters])).rows;
    } finally {
      connection.release();
    }
  }

  private async run<Row extends object>(
    client: Kysely<unknown>,
    sql: string,
    parameters: readonly unknown[],
  ): Promise<Row[]> {
    const { rows } = await client.executeQuery<Row>(CompiledQuery.raw(sql, [...parameters]));
    return rows;
  }

  /** The embedded database executes statements in this thread and blocks it meanwhile. */
  private get inThisThread(): boolean {
    return this.pool === undefined;
  }

  /** Awaiting a statement that was executed in this thread does not return to the event loop, so no request is read in between. */
  private taskIsLong(): boolean {
    if (!this.inThisThread) return false;
    const now = performance.now();
    if (this.taskBeganAt === undefined) {
      this.taskBeganAt = now;
      setImmediate(() => (this.taskBeganAt = undefined));
    }
    return now - this.taskBeganAt > LONG_TASK_MS;
  }

  private client(): Kysely<unknown> {
    return (this.orm.em.getConnection() as unknown as AbstractSqlConnection).getClient();
  }
}

/** A timestamp column as the database returns it. */
export function toDate(value: string): Date {
  return new Date(value);
}

/** The drivers' errors do not say which statement failed. */
async function named<Result>(sql: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw withoutValues(error, sql);
  }
}
