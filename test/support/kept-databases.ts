import { isDeepStrictEqual } from 'node:util';
import type { PGlite } from '@electric-sql/pglite';
import type { ContextSchema, OpenDatabase } from '../../src/platform/database/index.js';
import { openRunningPglite, startPglite } from '../../src/platform/database/embedded-database.js';
import { type Cluster, inMemory, preparedCluster } from './prepared-cluster.js';

/** One that runs in this process, with what it was before the first test. */
interface KeptDatabase {
  readonly pglite: PGlite;
  /** What it must be again before another test gets it. */
  readonly fresh: Fingerprint;
  uses: number;
}

interface Fingerprint {
  /** Of tables, columns, indexes, triggers, functions and settings. */
  readonly shape: string;
  /** The tables and sequences that migrations have put something into, with a digest of each. */
  readonly rows: Readonly<Record<string, string>>;
}

/** Nothing gives back the memory that a database once took. */
const MOST_USES = 40;
/** Of one shape; a test rarely has more of them at a time. */
const MOST_IDLE = 2;

/** By the cluster that they were made from. */
const idle = new Map<Cluster, KeptDatabase[]>();

/**
 * A fresh, migrated database in the memory of this process. Starting PostgreSQL takes longer than most tests, so one that
 * was closed is emptied for the next test that asks for the same tables, unless it is not what it was by then.
 */
export async function openKeptDatabase(schemas: readonly ContextSchema[]): Promise<OpenDatabase> {
  const cluster = await preparedCluster(schemas);
  const kept = (await takeIdle(cluster)) ?? (await start(cluster));
  const open = await openRunningPglite(kept.pglite, schemas);
  let isClosed = false;
  return {
    ...open,
    close: async () => {
      // A second time the database may be another test's.
      if (isClosed) return;
      isClosed = true;
      await open.close();
      await keep(cluster, kept);
    },
  };
}

async function start(cluster: Cluster): Promise<KeptDatabase> {
  const pglite = await startPglite(inMemory(cluster));
  const filled = await pglite.query<{ name: string }>(FILLED);
  const fresh = {
    shape: await shapeOf(pglite),
    rows: await rowsOf(
      pglite,
      filled.rows.map(({ name }) => name),
    ),
  };
  return { pglite, fresh, uses: 0 };
}

async function keep(cluster: Cluster, kept: KeptDatabase): Promise<void> {
  const others = idle.get(cluster) ?? [];
  if (kept.uses >= MOST_USES || others.length >= MOST_IDLE) await discard(kept);
  else idle.set(cluster, [...others, kept]);
}

/** Emptied only now: what a test left under way has ended. */
async function takeIdle(cluster: Cluster): Promise<KeptDatabase | undefined> {
  const kept = idle.get(cluster)?.pop();
  if (!kept) return undefined;
  kept.uses += 1;
  if (await isFreshAgain(kept)) return kept;
  await discard(kept);
  return takeIdle(cluster);
}

async function isFreshAgain({ pglite, fresh }: KeptDatabase): Promise<boolean> {
  try {
    const filled = Object.keys(fresh.rows);
    // What the service's one connection has set, prepared and listens to.
    await pglite.exec('discard all');
    await pglite.exec(emptyAllBut(filled));
    const now = { shape: await shapeOf(pglite), rows: await rowsOf(pglite, filled) };
    return isDeepStrictEqual(now, fresh);
  } catch {
    // A test has closed it, or left it in a transaction.
    return false;
  }
}

async function discard({ pglite }: KeptDatabase): Promise<void> {
  await pglite.close().catch(() => undefined);
}

/** Object numbers below it are PostgreSQL's own. */
const FIRST_OWN = 16_384;

const digest = (row: string, from: string): string =>
  `(select md5(coalesce(string_agg(${row}, ',' order by ${row}), '')) from ${from})`;

const SHAPE = `select ${[
  digest("concat_ws(' ', oid, relname, reloptions)", `pg_class where oid >= ${FIRST_OWN}`),
  digest(
    "concat_ws(' ', attrelid, attnum, attname, atttypid, attnotnull, attstorage)",
    `pg_attribute where attrelid >= ${FIRST_OWN}`,
  ),
  digest("concat_ws(' ', indexrelid, indisvalid)", `pg_index where indexrelid >= ${FIRST_OWN}`),
  digest("concat_ws(' ', oid, tgenabled)", 'pg_trigger'),
  digest("concat_ws(' ', oid, convalidated)", 'pg_constraint'),
  digest("concat_ws(' ', oid, prosrc)", `pg_proc where oid >= ${FIRST_OWN}`),
  digest("concat_ws(' ', setdatabase, setrole, setconfig)", 'pg_db_role_setting'),
].join(" || ' ' || ")} as shape`;

async function shapeOf(pglite: PGlite): Promise<string> {
  const { rows } = await pglite.query<{ shape: string }>(SHAPE);
  return rows[0]?.shape ?? '';
}

async function rowsOf(pglite: PGlite, tables: readonly string[]): Promise<Record<string, string>> {
  const digests = tables.map(
    (name) => [name, `select ${digest('filled::text', `(select * from ${name}) filled`)} as rows`] as const,
  );
  const found = digests.map(async ([name, sql]) => [
    name,
    (await pglite.query<{ rows: string }>(sql)).rows[0]?.rows ?? '',
  ]);
  return Object.fromEntries(await Promise.all(found)) as Record<string, string>;
}

const TABLES = `select oid::regclass::text as name from pg_class where relkind = 'r' and oid >= ${FIRST_OWN}`;
const SEQUENCES = `select format('%I.%I', schemaname, sequencename) as name from pg_sequences where last_value is not null`;
const FILLED = `select name from (${TABLES}) own
  where (xpath('/row/n/text()', query_to_xml('select count(*) as n from ' || name, false, true, '')))[1]::text <> '0'
  union all ${SEQUENCES}`;

/** One statement for all tables that have rows, since they refer to each other; looking first is what makes it quick. */
function emptyAllBut(filled: readonly string[]): string {
  const spared = filled.map((name) => `'${name.replaceAll("'", "''")}'`).join(', ');
  return `do $$
    declare
      spared text[] := array[${spared}]::text[];
      own record;
      has_rows boolean;
      names text[];
    begin
      for own in select name from (${TABLES}) own where name <> all(spared) loop
        execute 'select exists (select from ' || own.name || ')' into has_rows;
        if has_rows then names := names || own.name; end if;
      end loop;
      if names is not null then execute 'truncate ' || array_to_string(names, ', ') || ' cascade'; end if;
      for own in select name from (${SEQUENCES}) used where name <> all(spared) loop
        execute 'alter sequence ' || own.name || ' restart';
      end loop;
      delete from pg_statistic where starelid >= ${FIRST_OWN};
      perform pg_stat_reset();
    end $$`;
}
