/**
 * Hot path: every process tells every few seconds that it lives and asks after its runs, and whoever finds a process
 * silent takes its runs. Written by hand because each is one round trip, judged by the database's clock alone.
 */
import { statement } from '../../platform/database/index.js';
import { IS_THERE } from './thread.sql.js';

export const START_HEARTBEAT = statement(
  { ownerId: 'uuid' },
  (p) => `insert into run_owners (id) values (${p.ownerId}) returning contact`,
);

/** Either way: a heartbeat from the future is one from before the database's clock was set back. */
const heardWithin = (seconds: string): string =>
  `abs(extract(epoch from now() - run_owners.heartbeat_at)) < ${seconds}`;

/**
 * The contact is another one where the heartbeat before is too long ago, or unknown. It is judged here, by the row as
 * it is when it is locked, since a reading of the row before the statement may be older than what it then changes.
 */
export const BEAT = statement(
  { ownerId: 'uuid', gapSeconds: 'double precision', runIds: 'uuid[]' },
  (p) => `
  with beat as (
    insert into run_owners (id) values (${p.ownerId}) on conflict (id) do update set heartbeat_at = now(),
      contact = case when ${heardWithin(p.gapSeconds)} then run_owners.contact else gen_random_uuid() end
    returning id, contact
  )
  select beat.contact, runs.id, runs.owner_id = beat.id and runs.status = 'running' as owned,
         runs.cancel_requested_at is not null as cancelled
  from beat left join (runs join threads on threads.id = runs.thread_id and ${IS_THERE}) on runs.id = any(${p.runIds})`,
);

export const RETIRE_OWNER = statement({ ownerId: 'uuid' }, (p) => `delete from run_owners where id = ${p.ownerId}`);

/** Owners that own nothing. */
export const FORGET_SILENT_OWNERS = statement(
  { silentSeconds: 'integer' },
  (p) => `
  delete from run_owners where heartbeat_at < now() - make_interval(secs => ${p.silentSeconds})
    and not exists (select 1 from runs where runs.owner_id = run_owners.id and runs.status = 'running')`,
);

/**
 * A process's own runs are judged by what it knows of them alone, and those of others only by one that the database
 * has heard of within `heardWithinSeconds` itself, without a break since the look began: where all are silent, it is
 * the database that was away. `silentSeconds` is 0 where nobody else can be alive.
 */
export const TAKE_ORPHAN = statement(
  {
    silentSeconds: 'double precision',
    ownerId: 'uuid',
    before: 'timestamptz',
    known: 'uuid[]',
    contact: 'uuid',
    heardWithinSeconds: 'double precision',
  },
  (p) => `
  select runs.id, runs.organization_id, runs.thread_id, runs.agent_id, runs.message_id, runs.user_context,
         runs.session_id, runs.session_user_key,
         runs.created_at, runs.provider, runs.model, runs.use_own_api_key, runs.decisions, threads.channel,
         asked.id as user_message_id, asked.content as user_text
  from runs
  join threads on threads.id = runs.thread_id
  left join messages asked on asked.run_id = runs.id and asked.role = 'user'
    and asked.thread_id = runs.thread_id
  where runs.status = 'running' and case
    when runs.owner_id = ${p.ownerId} then runs.created_at < ${p.before} and not runs.id = any(${p.known})
    else not exists (
        select 1 from run_owners where run_owners.id = runs.owner_id and ${heardWithin(p.silentSeconds)})
      and (${p.silentSeconds} = 0 or exists (
        select 1 from run_owners where run_owners.id = ${p.ownerId} and run_owners.contact = ${p.contact}
          and ${heardWithin(p.heardWithinSeconds)}))
  end
  limit 1 for no key update of threads skip locked for update of runs skip locked`,
);

export const TAKE_OVER = statement(
  { runId: 'uuid', ownerId: 'uuid' },
  (p) => `update runs set owner_id = ${p.ownerId} where id = ${p.runId}`,
);
