import type { PGlite } from '@electric-sql/pglite';
import { CHANGED_ROWS, CHECKPOINT_BYTES, DEAD_ROWS, INSERTED_ROWS, SMALL_TABLE_BYTES } from './limits.js';

export interface DueTable {
  readonly name: string;
  /** Otherwise only its statistics are outdated. */
  readonly vacuum: boolean;
  /** Whether it waits until no request is open. */
  readonly canWait: boolean;
}

interface Measure {
  readonly rows: number;
  readonly share: number;
}

const beyond = (count: string, { rows, share }: Measure): string =>
  `s.${count} > ${String(rows)} + ${String(share)} * greatest(c.reltuples, 0)`;

export async function dueTables(pglite: PGlite, smallBytes = SMALL_TABLE_BYTES): Promise<DueTable[]> {
  const { rows } = await pglite.query<DueTable>(
    `select name, dead as vacuum, bytes > ${String(smallBytes)} and not overdue as "canWait"
       from (select c.oid::regclass::text as name, pg_total_relation_size(c.oid) as bytes,
                    ${beyond('n_dead_tup', DEAD_ROWS)} or ${beyond('n_ins_since_vacuum', INSERTED_ROWS)} as dead,
                    ${beyond('n_mod_since_analyze', CHANGED_ROWS)} as outdated,
                    ${beyond('n_dead_tup', { ...DEAD_ROWS, share: 1 })} as overdue
               from pg_stat_user_tables s join pg_class c on c.oid = s.relid) tables
      where dead or outdated
      order by bytes`,
  );
  return rows;
}

/** One table at a time, because it blocks the thread. */
export async function vacuumOrAnalyze(pglite: PGlite, { name, vacuum }: DueTable): Promise<void> {
  await pglite.exec(vacuum ? `vacuum (analyze) ${name}` : `analyze ${name}`);
}

/** @returns whether the write-ahead log is long enough for a checkpoint */
export async function isCheckpointDue(pglite: PGlite): Promise<boolean> {
  const { rows } = await pglite.query<{ due: boolean }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn) > ${String(CHECKPOINT_BYTES)} as due from pg_control_checkpoint()`,
  );
  return rows[0]?.due ?? false;
}

const withHeldCheckpoints = new WeakSet<PGlite>();

/** Does the work while all of the write-ahead log is kept: checkpoints alone remove it, and PGlite makes none by itself. */
export async function withoutCheckpoints<Result>(pglite: PGlite, work: () => Promise<Result>): Promise<Result> {
  withHeldCheckpoints.add(pglite);
  try {
    return await work();
  } finally {
    withHeldCheckpoints.delete(pglite);
  }
}

/** Nothing within `withoutCheckpoints`: the next check makes it up. */
export async function checkpoint(pglite: PGlite): Promise<void> {
  if (!withHeldCheckpoints.has(pglite)) await pglite.exec('checkpoint');
}
