import type { EntityManager as CoreEntityManager, MikroORM } from '@mikro-orm/core';
import type { AbstractSqlConnection, EntityManager } from '@mikro-orm/sql';
import { CompiledQuery, type Kysely, type Transaction as KyselyTransaction } from 'kysely';
import { setImmediate as nextTask } from 'node:timers/promises';
import { databaseFailure, isDeadlock } from './database-failure.js';
import { LeaveTheLoop } from './leave-the-loop.js';

/** Runs SQL with `$1`-style parameters; timestamps come back as PostgreSQL text (`toDate`). */
export interface SqlExecutor {
  query<Row extends object>(sql: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

/** Where entities are read: the database as it stands, or a transaction that is open. */
export interface EntityReader {
  /** Runs `work` in a unit of work: one of its own, or the transaction's. */
  read<Result>(work: (em: EntityManager) => Promise<Result>): Promise<Result>;
}

/** One open transaction: its own unit of work and raw SQL, on the same connection. */
export interface Transaction extends SqlExecutor, EntityReader {
  readonly em: EntityManager;
  /** Waits until no other transaction, of whichever process, holds the lock of this name; holds it until the end. */
  lock(name: string): Promise<void>;
  /** Runs `task` once the transaction has committed, and never if it does not. `task` must not throw. */
  onCommit(task: () => void): void;
}

const MAX_DEADLOCK_RETRIES = 3;
/** Once statements that follow one another kept this thread for longer, others have their turn: short as each may be. */
const LONG_TASK_MS = 25;

/**
 * The only way to the database. Nothing else may be awaited inside `transaction`: the embedded
 * database has a single connection, and a query outside the transaction would wait for itself.
 */
export class Database implements SqlExecutor, EntityReader {
  private statements = 0;
  /** When the first statement of the event loop's present turn was sent. */
  private taskBeganAt: number | undefined;

  constructor(
    readonly orm: MikroORM,
    /** Statements are computed in this thread, in which nothing else happens meanwhile. */
    private readonly inThisThread: boolean,
  ) {}

  /** Statements sent outside the ORM's own; tests count them to hold a request to its cost. */
  get statementCount(): number {
    return this.statements;
  }

  async query<Row extends object>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    this.statements += 1;
    if (this.taskIsLong()) await nextTask();
    return this.retrying(() => this.run<Row>(this.client(), sql, parameters));
  }

  /** Rejects when the database does not answer. */
  async ping(): Promise<void> {
    await this.query('select 1');
  }

  /** Runs `work` in a unit of work of its own, without a transaction; a deadlock is tried again. */
  async read<Result>(work: (em: EntityManager) => Promise<Result>): Promise<Result> {
    if (this.taskIsLong()) await nextTask();
    return this.retrying(() => work(this.em()));
  }

  /** As `read`, for a write that is one statement (`insert`, `nativeUpdate`) and so a transaction of its own. */
  write<Result>(statement: (em: EntityManager) => Promise<Result>): Promise<Result> {
    return this.read(statement);
  }

  /**
   * Runs `work` in one transaction; a deadlock is tried again at most three times, so `work` must
   * not have effects outside the database.
   */
  async transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.retrying(() => this.attempt(work));
  }

  private async retrying<Result>(attemptOnce: () => Promise<Result>): Promise<Result> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await attemptOnce();
      } catch (error) {
        if (!isDeadlock(error) || attempt >= MAX_DEADLOCK_RETRIES) throw databaseFailure(error);
      }
    }
  }

  private em(): EntityManager {
    return this.orm.em.fork() as CoreEntityManager as EntityManager;
  }

  /** Not the ORM's own `transactional`: that never gives back a connection that was lost under it. */
  private async attempt<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const em = this.em();
    const committed: (() => void)[] = [];
    try {
      const result = await this.client()
        .transaction()
        .execute(async (transaction) => {
          em.setTransactionContext(this.inThisThread ? transaction.withPlugin(new LeaveTheLoop()) : transaction);
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
      return this.run<Row>(transaction, sql, parameters);
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

  private async run<Row extends object>(
    client: Kysely<unknown>,
    sql: string,
    parameters: readonly unknown[],
  ): Promise<Row[]> {
    const { rows } = await client.executeQuery<Row>(CompiledQuery.raw(sql, [...parameters]));
    return rows;
  }

  /** What is computed in this thread is answered without the event loop having been left: no request is read between. */
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

/** A timestamp column as the database answers it. */
export function toDate(value: string): Date {
  return new Date(value);
}
