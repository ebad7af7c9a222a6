/** SQL because the ORM has no deletion that skips locked rows. */
import { statement } from '../../platform/database/index.js';

export const THREADS_OF_DELETED_AGENT = statement(
  { organizationId: 'uuid', agentId: 'uuid', limit: 'integer' },
  (p) => `
  select id from threads
  where organization_id = ${p.organizationId} and agent_id = ${p.agentId}
    and not exists (select 1 from agents where agents.id = ${p.agentId})
  limit ${p.limit}`,
);

const BATCH_PARAMETERS = { threadIds: 'uuid[]', limit: 'integer' } as const;

export const REMOVE_MESSAGES = statement(
  BATCH_PARAMETERS,
  (p) => `
  delete from messages where id in (
    select id from messages where thread_id = any(${p.threadIds}) limit ${p.limit} for update skip locked
  ) returning id`,
);

export const REMOVE_RUNS = statement(
  BATCH_PARAMETERS,
  (p) => `
  delete from runs where id in (
    select id from runs where thread_id = any(${p.threadIds}) limit ${p.limit} for update skip locked
  ) returning id`,
);

/**
 * A message that is being stored holds the lock of its thread, which is skipped. One that was stored just before shows
 * when the database reads the row again under the lock.
 */
export const REMOVE_EMPTY_WIDGET_THREADS = statement(
  { before: 'timestamptz', limit: 'integer' },
  (p) => `
  delete from threads where id = any(array(
    select id from threads
    where channel = 'widget' and last_message_at is null and deleted_at is null and created_at < ${p.before}
    order by created_at limit ${p.limit} for update skip locked
  ))
  returning organization_id, id`,
);
