/** SQL because the count joins unrelated tables of the mapping, and groups by a field of JSON. */
import { statement } from '../../platform/database/index.js';
import { THREAD_EXISTS } from './thread.sql.js';

/** The condition on `messages.created_at` lets the index find the rows: no reply is older than its run. */
export const COUNT_REACTIONS = statement(
  { organizationId: 'uuid', agentId: 'uuid', from: 'timestamptz', to: 'timestamptz' },
  (p) => `
  select messages.reaction ->> 'reaction' as reaction, count(*)::int as count
  from messages
  join threads on threads.id = messages.thread_id
  join runs on runs.id = messages.run_id
  where messages.organization_id = ${p.organizationId} and messages.reaction is not null
    and messages.created_at >= ${p.from}
    and runs.created_at >= ${p.from} and runs.created_at < ${p.to}
    and threads.agent_id = ${p.agentId} and ${THREAD_EXISTS}
  group by messages.reaction ->> 'reaction' order by messages.reaction ->> 'reaction'`,
);
