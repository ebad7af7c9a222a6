import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { Database } from '../database/index.js';
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

export interface OutboxRow {
  readonly id: string;
  readonly name: string;
}

export interface StartedRow {
  readonly name: string;
  readonly payload: unknown;
  /** This run's number, from 1. */
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

/** The jobs of one name. */
export interface JobDepth {
  readonly name: string;
  /** Those that have not begun. */
  readonly waiting: number;
  /** Those that have begun, also where they wait for another attempt. */
  readonly running: number;
  readonly dead: number;
  /** Seconds since the oldest of those waiting became due; 0 where none is due. */
  readonly oldestDue: number;
  /** The same of those that no queue has yet. */
  readonly oldestUndispatched: number;
}

/** Long enough for a stack's first frames, short enough for a table. */
const MAX_ERROR_CHARACTERS = 4_000;

/** The transitions of an outbox row, each one statement: no transaction stays open while a queue is waited for. */
@Injectable()
export class OutboxStore {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes due rows of jobs that this build knows, each for one caller, until their lease ends. They are looked up once, as an array:
   * after `in` the database may look anew for each row, pass over what is locked, and take more than the batch.
   */
  claim(names: readonly string[]): Promise<OutboxRow[]> {
    return this.database.query<OutboxRow>(
      `update outbox set available_at = $2::timestamptz
        where id = any(array(
          select id from outbox
           where state <> 'dead' and available_at <= $1::timestamptz and name = any($3::text[])
           order by available_at limit ${String(RELAY_BATCH)} for update skip locked))
        returning id::text as id, name`,
      [this.at(), this.at(CLAIM_LEASE_MS), textArray(names)],
    );
  }

  /** The queue has accepted the rows. One whose job is done already is gone, and stays so. */
  async dispatched(ids: readonly string[]): Promise<void> {
    await this.database.query(
      `update outbox set state = 'dispatched', available_at = $2::timestamptz
        where id = any($1::text[]::uuid[]) and state <> 'dead'`,
      [textArray(ids), this.at(RECHECK_MS)],
    );
  }

  /**
   * Counts the attempt before it is made, so that a job which ends its process every time comes to an end as well.
   * The worker can be here before `dispatched` is.
   * @returns undefined when the row is gone or dead: the job is done, and was dispatched twice
   */
  async start(id: string): Promise<StartedRow | undefined> {
    const [row] = await this.database.query<{ name: string; payload: string; attempt: number }>(
      `update outbox
          set state = 'dispatched', attempts = attempts + 1,
              started_at = coalesce(started_at, $2::timestamptz), available_at = $3::timestamptz
        where id = $1::uuid and state <> 'dead'
        returning name, payload::text as payload, attempts as attempt`,
      [id, this.at(), this.at(RECHECK_MS)],
    );
    return row && { name: row.name, attempt: row.attempt, payload: JSON.parse(row.payload) as unknown };
  }

  async complete(id: string): Promise<void> {
    await this.database.query('delete from outbox where id = $1::uuid', [id]);
  }

  /** Notes what went wrong; `dead` ends the job. */
  async fail(id: string, error: string, dead: boolean): Promise<void> {
    await this.database.query(
      `update outbox
          set last_error = $2, state = case when $3 then 'dead' else state end,
              died_at = case when $3 then $4::timestamptz end
        where id = $1::uuid and state <> 'dead'`,
      [id, error.slice(0, MAX_ERROR_CHARACTERS).replaceAll('\0', ''), dead, this.at()],
    );
  }

  /** The run was cut short by its process's own end: it counts as none. */
  async giveBack(id: string): Promise<void> {
    await this.database.query('update outbox set attempts = greatest(attempts - 1, 0) where id = $1::uuid', [id]);
  }

  /** At most `LISTED` jobs, the newest first: the dead ones, or those that wait or run; of one name where it is given. */
  list(dead: boolean, name?: string): Promise<ListedJob[]> {
    return this.database.query<ListedJob>(
      `select id::text as id, name, state, attempts, left(last_error, ${String(LISTED_ERROR)}) as "lastError",
              ${isoTime('created_at')} as "createdAt", ${isoTime('died_at')} as "diedAt"
         from outbox where (state = 'dead') = $1 and name = coalesce($2, name)
        order by coalesce(died_at, created_at) desc, id desc limit ${String(LISTED)}`,
      [dead, name ?? null],
    );
  }

  /**
   * How many jobs there are of each name, none for names without any. The work is bounded: of more than `COUNTED_JOBS`
   * that are dead, and as many others, the rest are left out.
   */
  depths(): Promise<JobDepth[]> {
    const limit = String(COUNTED_JOBS);
    const age = (which: string): string =>
      `greatest(coalesce(extract(epoch from $1::timestamptz - min(due_at) filter (where ${which})), 0), 0)::float8`;
    return this.database.query<JobDepth>(
      `with jobs as (
         (select name, state, started_at, due_at from outbox where state <> 'dead' order by available_at limit ${limit})
         union all (select name, state, started_at, due_at from outbox where state = 'dead' limit ${limit}))
       select name,
              (count(*) filter (where state <> 'dead' and started_at is null))::int as waiting,
              (count(*) filter (where state <> 'dead' and started_at is not null))::int as running,
              (count(*) filter (where state = 'dead'))::int as dead,
              ${age(`state <> 'dead' and started_at is null`)} as "oldestDue",
              ${age(`state = 'pending'`)} as "oldestUndispatched"
         from jobs group by name`,
      [this.at()],
    );
  }

  /** Has a dead job tried again as if it were new; false when it is not dead, or not there. */
  async retry(id: string): Promise<boolean> {
    const rows = await this.database.query(
      `update outbox set state = 'pending', attempts = 0, available_at = $2::timestamptz, due_at = $2::timestamptz, died_at = null
        where id = $1::uuid and state = 'dead' returning id`,
      [id, this.at()],
    );
    return rows.length > 0;
  }

  async exists(id: string): Promise<boolean> {
    return (await this.database.query('select id from outbox where id = $1::uuid', [id])).length > 0;
  }

  /** Removes a batch of rows that have been dead for long; answers how many. */
  async purgeDead(): Promise<number> {
    const rows = await this.database.query(
      `delete from outbox where id = any(array(
         select id from outbox where state = 'dead' and died_at < $1::timestamptz
          limit ${String(PURGE_BATCH)} for update skip locked))
       returning id`,
      [this.at(-DEAD_KEPT_MS)],
    );
    return rows.length;
  }

  private at(offsetMs = 0): string {
    return new Date(this.clock.now().getTime() + offsetMs).toISOString();
  }
}

/** In UTC: the embedded and the server driver read a timestamp differently. */
function isoTime(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** An array as PostgreSQL text: the embedded and the server driver encode a JavaScript array differently. */
function textArray(values: readonly string[]): string {
  return `{${values.map((value) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
