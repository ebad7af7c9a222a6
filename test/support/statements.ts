import type { AbstractSqlConnection } from '@mikro-orm/sql';
import type { CompiledQuery, DatabaseConnection } from 'kysely';
import type { Database } from '../../src/platform/database/index.js';

/**
 * Background statements: relaying and running jobs, heartbeats, recording the use of keys, looking for webhooks, removing the data of
 * deleted threads, agents and integrations, and what is kept no longer. Their jobs start with the service, and no test waits for them.
 */
const BACKGROUND = new RegExp(
  [
    /\b(outbox|run_owners|job_workers|overdue|drive_(sources|sign_ins|items))\b/,
    /update\s+"?api_keys"?/,
    /\bfrom "?(files|traces|idempotency_keys|oauth_sign_ins)\b[^]*\blimit\b/,
    /\bfrom "threads" as "\w+" where "\w+"\."deleted_at" is not null limit/,
    /^\s*select used\.integration_id\b/,
    /^\s*select "\w+"\."id" from "tool_integrations" as "\w+" where "\w+"\."id" in \(/,
    /\bturn = 'waiting' and changed_at </,
    /"knowledge_uploads"[^]*\bfor update skip locked\b/,
    /^\s*with recursive\s+holders as\b/,
    /\bknowledge_website|\bcrawl_hosts\b/,
    /^\s*delete from sessions where id = any\b|"session_signing_keys" as "s0" where "s0"\."created_at" </,
    /^\s*delete from threads where id = any\b[^]*'widget'/,
    /\bbare_users$|^\s*update sessions set user_key = null\b/,
    /\bcredit_entries where not counted\b|^\s*update credit_periods\b/,
    /^\s*(?:with recursive\s+owing as|update webhook_endpoints|delete from webhook_deliveries|select endpoint\.url)\b/,
    /\bupdate webhook_deliveries delivery\b/,
    /\bdistinct organization_id from webhook_endpoints\b/,
    /\bdelete from credit_entries\b|"retain_days" is not null|\bfrom agents\s+where version >/,
    /'traces\.publish'|\bupdate traces set published_at\b/,
    /\b(?:delete from|insert into) (?:removed_runs|suggestion_usage|trace_counts|agent_usage|agent_users)\b/,
    /\bfrom agent_usage\s+where \(agent_id, width/,
    /\bwhere c\.number is null\b|\bfrom knowledge_blocks b join knowledge_partitions\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);
const TRANSACTION_CONTROL = /^\s*(begin|start transaction|commit|rollback|savepoint|release)\b/i;

/**
 * The text of every statement that reached the database's driver while `work` ran, through the ORM or not, without background
 * statements, `begin` and `commit`.
 * @param of selects background statements instead
 */
export async function statementsOf(database: Database, work: () => Promise<unknown>, of?: RegExp): Promise<string[]> {
  const connections = await connectionClass(database);
  const original = Object.getOwnPropertyDescriptor(connections, 'executeQuery');
  const execute = original?.value as (...parameters: unknown[]) => unknown;
  const seen: SentStatement[] = [];
  Object.defineProperty(connections, 'executeQuery', {
    ...original,
    value(this: DatabaseConnection, query: CompiledQuery, ...rest: unknown[]): unknown {
      seen.push(query);
      return Reflect.apply(execute, this, [query, ...rest]);
    },
  });
  const stop = watchPool(database, seen);
  try {
    await work();
  } finally {
    Object.defineProperty(connections, 'executeQuery', original ?? {});
    stop();
  }
  return seen
    .filter((query) => (of ?? BACKGROUND).test(textWithLock(query)) === (of !== undefined))
    .map(({ sql }) => sql)
    .filter((sql) => !TRANSACTION_CONTROL.test(sql));
}

type SentStatement = Pick<CompiledQuery, 'sql' | 'parameters'>;
type RunAlone = (sql: string, parameters: readonly unknown[]) => Promise<unknown>;

/** Records the statements that go to a server past the query builder. @returns stops it */
function watchPool(database: Database, seen: SentStatement[]): () => void {
  if (Reflect.get(database, 'pool') === undefined) return () => undefined;
  const runAlone = Reflect.get(database, 'runAlone') as RunAlone;
  const recorded: RunAlone = (sql, parameters) => {
    seen.push({ sql, parameters });
    return runAlone.call(database, sql, parameters);
  };
  Object.defineProperty(database, 'runAlone', { value: recorded, configurable: true });
  return () => Reflect.deleteProperty(database, 'runAlone');
}

/** All locks have the same text; the name is a parameter. */
function textWithLock({ sql, parameters: [name] }: SentStatement): string {
  return sql.includes('pg_advisory_xact_lock') ? `${sql} '${String(name)}'` : sql;
}

/** The prototype of all connections of the driver: each pool and each transaction has its own. */
async function connectionClass({ orm }: Database): Promise<DatabaseConnection> {
  const connection = orm.em.getConnection() as unknown as AbstractSqlConnection;
  const executor = connection.getClient().getExecutor();
  return executor.provideConnection((one) => Promise.resolve(Object.getPrototypeOf(one) as DatabaseConnection));
}
