/**
 * Hot path: every process stores a heartbeat every few seconds and reads the state of its runs, and takes over the runs
 * of processes without a heartbeat. Written by hand because each is one round trip, and only the database's clock
 * counts.
 */
import { statement } from '../../platform/database/index.js';
import { THREAD_EXISTS } from './thread.sql.js';

export const START_HEARTBEAT = statement(
  { ownerId: 'uuid' },
  (p) => `insert into run_owners (id) values (${p.ownerId}) returning contact`,
);

/** `abs`, since a heartbeat is in the future after the database's clock was set back. */
const heardWithin = (seconds: string): string =>
  `abs(extract(epoch from now() - run_owners.heartbeat_at)) < ${seconds}`;

/**
 * The contact changes when the previous heartbeat is too long ago. The upsert decides this from the locked row, since
 * an earlier read could be older than the row it changes.
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
  from beat left join (runs join threads on threads.id = runs.thread_id and ${THREAD_EXISTS}) on runs.id = any(${p.runIds})`,
);

export const RETIRE_OWNER = statement({ ownerId: 'uuid' }, (p) => `delete from run_owners where id = ${p.ownerId}`);

/** Removes silent owners without a running run. */
export const REMOVE_SILENT_OWNERS = statement(
  { silentSeconds: 'integer' },
  (p) => `
  delete from run_owners where heartbeat_at < now() - make_interval(secs => ${p.silentSeconds})
    and not exists (select 1 from runs where runs.owner_id = run_owners.id and runs.status = 'running')`,
);

/**
 * Takes a run of the calling process that the process does not know, or a run of a silent process. The latter only
 * while the caller's own heartbeat is recent and its contact unbroken: when all processes are silent, the database was
 * unreachable. `silentSeconds` is 0 when no other process can be alive.
 */
export const TAKE_ORPHAN = statement(
  {
    silentSeconds: 'double precision',
    ownerId: 'uuid',
    before: 'timestamptz',
    known: 'uuid[]',
    lost: 'uuid[]',
    contact: 'uuid',
    heardWithinSeconds: 'double precision',
  },
  (p) => `
  select runs.id, runs.organization_id, runs.thread_id, runs.agent_id, runs.message_id, runs.user_context,
         runs.session_id, runs.session_user_key,
         runs.created_at, runs.provider, runs.model, runs.use_own_api_key, runs.decisions, threads.channel,
         asked.id as user_message_id, asked.content as user_text, not (${THREAD_EXISTS}) as is_deleted
  from runs
  join threads on threads.id = runs.thread_id
  left join messages asked on asked.run_id = runs.id and asked.role = 'user'
    and asked.thread_id = runs.thread_id
  where runs.status = 'running' and case
    when runs.owner_id = ${p.ownerId} then not runs.id = any(${p.known}) and (runs.created_at < ${p.before} or runs.id = any(${p.lost}))
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
