import { setTimeout } from 'node:timers/promises';
import { RELEASE } from '../config/index.js';
import type { SqlExecutor } from './database.js';
import { isDeadlock, isDuplicateTable, isLockTimeout } from './database-failure.js';
import { REPLACED_MIGRATIONS } from './replaced-migrations.js';
import { BASE, type NamedMigration } from './schema.js';
import { isAtBase, SchemaRefusal } from './schema-state.js';

/** A connection on which only migrations run. */
export interface MigrationSession extends SqlExecutor {
  transaction<Result>(work: (transaction: SqlExecutor) => Promise<Result>): Promise<Result>;
  /** Waits until no other process migrates, and keeps others from it until the session is closed. */
  lock(onWait: () => void): Promise<void>;
}

/**
 * How long a migration waits for the lock of a table. Statements of the service queue behind the waiting one, so this is also how
 * long a migration may stop them.
 */
const LOCK_TIMEOUT_MS = 250;
/** Between attempts, so that the statements that waited for the last one are executed; longer after each, up to the second. */
const PAUSE_MS = { first: 500, longest: 5_000 };
/** A transaction that holds a table for longer is not one of the service. */
const GIVE_UP_MS = 10 * 60_000;

const TABLE = [
  `create table if not exists schema_migrations (
    id serial primary key,
    name varchar(255) not null,
    executed_at timestamptz(6) not null default current_timestamp
  )`,
  'alter table schema_migrations add column if not exists release text, add column if not exists oldest_build text',
];

/** Timeouts that the operator may have set on the role or the database: they are for the service, not for migrations. */
const NO_LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];

/** A migration did not get the lock of a table, because another transaction has held it all the time. */
class MigrationBlocked extends Error {}

/**
 * Runs the migrations that a database lacks, each in its own transaction: one that fails leaves those before it. A lock that is
 * not free at once is tried again, so that no statement of a running service waits long.
 */
export class Migrator {
  /** Whether the table of migrations is there, with all of its columns. */
  private hasTable = false;

  constructor(
    private readonly migrations: readonly NamedMigration[],
    private readonly session: MigrationSession,
    private readonly giveUpMs = GIVE_UP_MS,
  ) {}

  /**
   * @param onWait called when this process begins to wait for another one that migrates
   * @returns the names of the migrations that ran, in order
   * @throws MigrationBlocked
   */
  async run(onWait: () => void): Promise<string[]> {
    await this.session.lock(onWait);
    for (const limit of NO_LIMITS) await this.session.query(`set ${limit} = 0`);
    const names = await this.storedNames();
    const ran: string[] = [];
    for (const each of this.migrations) {
      if (names.has(each.name)) continue;
      if (each.name === BASE && isAtBase(names)) await record(this.session, each);
      else {
        await this.migrate(each);
        ran.push(each.name);
      }
    }
    return ran;
  }

  /** Of a new database without making a table in it: the first migration may be refused. */
  private async storedNames(): Promise<Set<string>> {
    const [table] = await this.session.query<{ made: boolean }>(
      `select to_regclass('schema_migrations') is not null as made`,
    );
    if (table?.made !== true) return new Set();
    await this.withRetries('schema_migrations', (transaction) => executeAll(transaction, TABLE));
    this.hasTable = true;
    const stored = await this.session.query<{ name: string }>('select name from schema_migrations');
    return new Set(stored.map(({ name }) => name));
  }

  private async migrate(each: NamedMigration): Promise<void> {
    if (each.index !== undefined) {
      await this.buildIndex(each.index, each.statements);
      await record(this.session, each);
      return;
    }
    await this.withRetries(each.name, async (transaction) => {
      // Only for the first one: readiness probes read the table, which this locks.
      if (!this.hasTable) await executeAll(transaction, TABLE);
      await executeAll(transaction, each.statements).catch((error: unknown) => {
        throw each.name === BASE && isDuplicateTable(error) ? foreignTables(error) : error;
      });
      // The former release runs its migrations unless it finds them here.
      if (each.name === BASE) {
        await transaction.query('insert into schema_migrations (name) select unnest($1::text[])', [
          REPLACED_MIGRATIONS,
        ]);
      }
      await record(transaction, each);
    });
    this.hasTable = true;
  }

  /** An index whose building was interrupted exists, but is invalid: PostgreSQL maintains and does not use it. */
  private async buildIndex(index: string, statements: readonly string[]): Promise<void> {
    const [found] = await this.session.query<{ isValid: boolean }>(
      `select indisvalid as "isValid" from pg_index where indexrelid = to_regclass('${index}')`,
    );
    if (found?.isValid === false) await this.session.query(`drop index concurrently if exists ${index}`);
    await executeAll(this.session, statements);
  }

  private async withRetries(what: string, work: (transaction: SqlExecutor) => Promise<void>): Promise<void> {
    const beganAt = performance.now();
    for (let pause = PAUSE_MS.first; ; pause = Math.min(2 * pause, PAUSE_MS.longest)) {
      try {
        await this.session.transaction(async (transaction) => {
          await transaction.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
          await work(transaction);
        });
        return;
      } catch (error) {
        if (!isLockTimeout(error) && !isDeadlock(error)) throw error;
        if (performance.now() - beganAt > this.giveUpMs) throw blocked(what, this.giveUpMs, error);
      }
      await setTimeout(pause);
    }
  }
}

function foreignTables(cause: unknown): SchemaRefusal {
  const why = 'the database has tables of another application, or of this one without its list of migrations';
  return new SchemaRefusal(`DATABASE_URL: ${why}; name an empty database, or restore a whole backup`, { cause });
}

function blocked(what: string, ms: number, cause: unknown): MigrationBlocked {
  const minutes = Math.round(ms / 60_000);
  return new MigrationBlocked(
    `The migration ${what} could not lock its table within ${minutes} minutes: another transaction holds it (pg_stat_activity names it). ` +
      'The migrations before it are done; end the transaction and migrate again',
    { cause },
  );
}

async function executeAll(executor: SqlExecutor, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await executor.query(statement);
}

async function record(executor: SqlExecutor, { name, oldestBuild }: NamedMigration): Promise<void> {
  await executor.query('insert into schema_migrations (name, release, oldest_build) values ($1, $2, $3)', [
    name,
    RELEASE,
    oldestBuild,
  ]);
}
