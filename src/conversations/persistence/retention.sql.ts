/**
 * SQL because threads are marked and exchanges are found in batches, past locked rows, by one statement each, and because
 * the removal of an exchange and the thread's new revision belong together.
 */
import { statement } from '../../platform/database/index.js';
import { THREAD_EXISTS } from './thread.sql.js';

const HAS_NO_RUNNING_RUN = `not exists (select 1 from runs where runs.thread_id = threads.id and runs.status = 'running')`;

/**
 * Deletes for every reader the threads whose last activity is before `before`. A run that starts meanwhile changes the row,
 * whose activity is then read again.
 */
export const MARK_OLD_THREADS = statement(
  { organizationId: 'uuid', before: 'timestamptz', now: 'timestamptz', limit: 'integer' },
  (p) => `
  update threads set deleted_at = ${p.now}, external_id = null
  where id = any(array(
    select id from threads
    where organization_id = ${p.organizationId} and activity_at < ${p.before} and deleted_at is null and ${HAS_NO_RUNNING_RUN}
    order by activity_at, id limit ${p.limit} for update skip locked
  ))
  returning id`,
);

/** Threads with later activity whose oldest message is from before `before`; a page, the latest activity first. */
export const THREADS_WITH_OLD_MESSAGES = statement(
  { organizationId: 'uuid', before: 'timestamptz', activityAt: 'text', afterId: 'uuid', limit: 'integer' },
  (p) => `
  select id, activity_at::text as "activityAt" from threads
  where organization_id = ${p.organizationId} and activity_at >= ${p.before} and created_at < ${p.before} and ${THREAD_EXISTS}
    and (activity_at, id) < (coalesce(${p.activityAt}::timestamptz, 'infinity'),
                             coalesce(${p.afterId}, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    and (select messages.created_at from messages where messages.thread_id = threads.id order by seq limit 1) < ${p.before}
  order by activity_at desc, id desc limit ${p.limit}`,
);

/**
 * Removes the oldest exchanges of a thread that the caller has locked: those that ended before `before`, but not the newest one. An
 * exchange begins with a user's message and includes the runs that answers have added to it, so the first message that stays is
 * a user's. Nothing is removed while a run is under way, which has read the history. The first exchange is read to its end, however long it is.
 */
export const REMOVE_OLD_EXCHANGES = statement(
  { organizationId: 'uuid', threadId: 'uuid', before: 'timestamptz', limit: 'integer' },
  (p) => `
  with head as (
    select seq from messages
    where thread_id = ${p.threadId} and organization_id = ${p.organizationId} order by seq limit ${p.limit}
  ), second as (
    select seq from messages
    where thread_id = ${p.threadId} and organization_id = ${p.organizationId} and role = 'user'
      and seq > (select min(seq) from head)
    order by seq limit 1
  ), oldest as (
    select id, run_id, role, seq, created_at from messages
    where thread_id = ${p.threadId} and organization_id = ${p.organizationId}
      and seq <= greatest((select max(seq) from head), (select seq from second))
  ), recent as (
    select min(seq) as seq from oldest where created_at >= ${p.before}
  ), start as (
    select coalesce(max(oldest.seq) filter (where role = 'user' and oldest.seq <= coalesce(recent.seq, oldest.seq)), recent.seq) as seq
    from recent left join oldest on true group by recent.seq
  ), first as (
    select oldest.seq, oldest.created_at from start join oldest on oldest.seq = start.seq
    where not exists (select 1 from runs where runs.thread_id = ${p.threadId} and runs.status = 'running')
  ), removed as (
    delete from messages using first
    where messages.thread_id = ${p.threadId} and messages.organization_id = ${p.organizationId} and messages.seq < first.seq
    returning messages.id
  ), removed_runs as (
    delete from runs using first
    where runs.thread_id = ${p.threadId} and runs.organization_id = ${p.organizationId}
      and runs.created_at < least(first.created_at, ${p.before}) and runs.status <> 'running'
      and not exists (select 1 from oldest where oldest.run_id = runs.id and oldest.seq >= first.seq)
  ), touched as (
    update threads set revision = revision + 1 where id = ${p.threadId} and exists (select 1 from removed)
  )
  select count(*)::int as removed from removed`,
);
