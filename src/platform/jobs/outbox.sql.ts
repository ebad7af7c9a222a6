/*
 * Every job passes the statements that insert, claim, start and delete a row: they are hot, and prepared once. The ORM cannot
 * express an upsert with a condition; and a row's transitions are easier to compare in one language.
 */
import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { Database, type SqlExecutor, statement } from '../database/index.js';
import {
  CLAIM_LEASE_MS,
  COUNTED_JOBS,
  DEAD_KEPT_MS,
  LISTED,
  LISTED_ERROR,
  PURGE_BATCH,
  RECHECK_MS,
  RELAY_BATCH,
} from './limits.js';

export interface NewJob {
  readonly id: string;
  readonly name: string;
  readonly payload: unknown;
  readonly dedupeKey: string | null;
  readonly createdAt: Date;
  readonly dueAt: Date;
}

export interface OutboxRow {
  readonly id: string;
  readonly name: string;
}

export interface StartedRow {
  readonly payload: unknown;
  readonly attempt: number;
}

/** A job as the operator sees it; times are ISO 8601. */
export interface ListedJob {
  readonly id: string;
  readonly name: string;
  readonly state: 'pending' | 'dispatched' | 'dead';
  readonly attempts: number;
  readonly lastError: string | null;
  readonly createdAt: string;
  /** Null while the job waits or runs. */
  readonly diedAt: string | null;
}

export interface JobDepth {
  readonly name: string;
  readonly waiting: number;
  /** Jobs that have begun, including those that wait for another attempt. */
  readonly running: number;
  readonly dead: number;
  /** Seconds since the oldest waiting job became due; 0 if none is due. */
  readonly oldestDue: number;
  /** The same of jobs that are in no queue yet. */
  readonly oldestUndispatched: number;
}

/** Long enough for the first frames of a stack, short enough for a table. */
const MAX_ERROR_CHARACTERS = 4_000;

/**
 * A waiting row of the same key is updated rather than skipped: the lock on the row keeps a worker from starting it before this
 * transaction has committed, with the state from before.
 */
const INSERT = statement(
  {
    id: 'uuid',
    name: 'text',
    payload: 'jsonb',
    dedupeKey: 'text',
    createdAt: 'timestamptz',
    dueAt: 'timestamptz',
  },
  (p) => `insert into outbox (id, name, payload, dedupe_key, created_at, available_at, due_at)
  values (${p.id}, ${p.name}, ${p.payload}, ${p.dedupeKey}, ${p.createdAt}, ${p.dueAt}, ${p.dueAt})
  on conflict (name, dedupe_key) where dedupe_key is not null and started_at is null
  do update set payload = excluded.payload, available_at = least(outbox.available_at, excluded.available_at),
    due_at = least(outbox.due_at, excluded.due_at)`,
);

/** The inner query runs once, as an array: after `in` the planner may run it for each row, skip locked rows, and take more than a batch. */
const CLAIM = statement(
  { now: 'timestamptz', leaseUntil: 'timestamptz', names: 'text[]' },
  (p) => `update outbox set available_at = ${p.leaseUntil}
  where id = any(array(
    select id from outbox where state <> 'dead' and available_at <= ${p.now} and name = any(${p.names})
    order by available_at limit ${RELAY_BATCH} for update skip locked))
  returning id::text as id, name`,
);

const SET_DISPATCHED = statement(
  { ids: 'uuid[]', recheckAt: 'timestamptz' },
  (p) => `update outbox set state = 'dispatched', available_at = ${p.recheckAt}
  where id = any(${p.ids}) and state <> 'dead'`,
);

const START = statement(
  { id: 'uuid', now: 'timestamptz', recheckAt: 'timestamptz' },
  (p) => `update outbox
  set state = 'dispatched', attempts = attempts + 1, started_at = coalesce(started_at, ${p.now}), available_at = ${p.recheckAt}
  where id = ${p.id} and state <> 'dead'
  returning payload::text as payload, attempts as attempt`,
);

const DELETE = statement({ id: 'uuid' }, (p) => `delete from outbox where id = ${p.id}`);

const FAIL = statement(
  { id: 'uuid', error: 'text', dead: 'boolean', now: 'timestamptz' },
  (p) => `update outbox
  set last_error = ${p.error}, state = case when ${p.dead} then 'dead' else state end,
    died_at = case when ${p.dead} then ${p.now} end
  where id = ${p.id} and state <> 'dead'`,
);

const GIVE_BACK = statement(
  { id: 'uuid' },
  (p) => `update outbox set attempts = greatest(attempts - 1, 0) where id = ${p.id}`,
);

/** In UTC, because the drivers of the embedded database and of the server parse timestamps differently. */
const isoTime = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const LIST = statement(
  { dead: 'boolean', name: 'text' },
  (p) => `select id::text as id, name, state, attempts, left(last_error, ${LISTED_ERROR}) as "lastError",
    ${isoTime('created_at')} as "createdAt", ${isoTime('died_at')} as "diedAt"
  from outbox where (state = 'dead') = ${p.dead} and name = coalesce(${p.name}, name)
  order by coalesce(died_at, created_at) desc, id desc limit ${LISTED}`,
);

/** Reads at most `COUNTED_JOBS` of the dead jobs and as many others, so that a full outbox does not make it slow. */
const DEPTHS = statement({ now: 'timestamptz' }, (p) => {
  const age = (which: string): string =>
    `greatest(coalesce(extract(epoch from ${p.now} - min(due_at) filter (where ${which})), 0), 0)::float8`;
  return `with jobs as (
    (select name, state, started_at, due_at from outbox where state <> 'dead' order by available_at limit ${COUNTED_JOBS})
    union all (select name, state, started_at, due_at from outbox where state = 'dead' limit ${COUNTED_JOBS}))
  select name,
    (count(*) filter (where state <> 'dead' and started_at is null))::int as waiting,
    (count(*) filter (where state <> 'dead' and started_at is not null))::int as running,
    (count(*) filter (where state = 'dead'))::int as dead,
    ${age(`state <> 'dead' and started_at is null`)} as "oldestDue",
    ${age(`state = 'pending'`)} as "oldestUndispatched"
  from jobs group by name`;
});

const RETRY = statement(
  { id: 'uuid', now: 'timestamptz' },
  (p) => `with retried as (
    update outbox set state = 'pending', attempts = 0, available_at = ${p.now}, due_at = ${p.now}, died_at = null
    where id = ${p.id} and state = 'dead' returning id)
  select id in (select id from retried) as "isRetried" from outbox where id = ${p.id}`,
);

const PURGE = statement(
  { before: 'timestamptz' },
  (p) => `delete from outbox where id = any(array(
    select id from outbox where state = 'dead' and died_at < ${p.before} limit ${PURGE_BATCH} for update skip locked))
  returning id`,
);

export async function insertJob(executor: SqlExecutor, job: NewJob): Promise<void> {
  await INSERT.run(executor, { ...job });
}

/** The transitions of an outbox row. Each is one statement: no transaction is open during a call of the queue. */
@Injectable()
export class OutboxStore {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Leases due rows of these jobs to the caller, at most `RELAY_BATCH`. */
  claim(names: readonly string[]): Promise<OutboxRow[]> {
    return CLAIM.run<OutboxRow>(this.database, { now: this.at(), leaseUntil: this.at(CLAIM_LEASE_MS), names });
  }

  /** The queue has accepted the rows. Rows of jobs that are done already no longer exist. */
  async setDispatched(ids: readonly string[]): Promise<void> {
    await SET_DISPATCHED.run(this.database, { ids, recheckAt: this.at(RECHECK_MS) });
  }

  /**
   * Counts the attempt before it is made, so that a job that kills its process each time reaches its last attempt too.
   * A worker may call this before the relay calls `setDispatched`.
   * @returns undefined if the job is done or dead, and so was dispatched twice
   */
  async start(id: string): Promise<StartedRow | undefined> {
    const parameters = { id, now: this.at(), recheckAt: this.at(RECHECK_MS) };
    const [row] = await START.run<{ payload: string; attempt: number }>(this.database, parameters);
    return row && { attempt: row.attempt, payload: JSON.parse(row.payload) as unknown };
  }

  async complete(id: string): Promise<void> {
    await DELETE.run(this.database, { id });
  }

  async fail(id: string, error: string, dead: boolean): Promise<void> {
    const text = error.slice(0, MAX_ERROR_CHARACTERS).replaceAll('\0', '');
    await FAIL.run(this.database, { id, error: text, dead, now: this.at() });
  }

  /** The process stopped during the attempt, which therefore does not count. */
  async giveBack(id: string): Promise<void> {
    await GIVE_BACK.run(this.database, { id });
  }

  /** At most `LISTED` jobs, newest first: the dead jobs or all others, of one name or of all. */
  list(dead: boolean, name?: string): Promise<ListedJob[]> {
    return LIST.run<ListedJob>(this.database, { dead, name: name ?? null });
  }

  depths(): Promise<JobDepth[]> {
    return DEPTHS.run<JobDepth>(this.database, { now: this.at() });
  }

  /** Makes a dead job due as if it were new; returns false if it is not dead, and undefined if it does not exist. */
  async retry(id: string): Promise<boolean | undefined> {
    const [job] = await RETRY.run<{ isRetried: boolean }>(this.database, { id, now: this.at() });
    return job?.isRetried;
  }

  /** Deletes rows that died `DEAD_KEPT_MS` ago, at most `PURGE_BATCH`; returns how many. */
  async purgeDead(): Promise<number> {
    return (await PURGE.run(this.database, { before: this.at(-DEAD_KEPT_MS) })).length;
  }

  private at(offsetMs = 0): Date {
    return new Date(this.clock.now().getTime() + offsetMs);
  }
}
