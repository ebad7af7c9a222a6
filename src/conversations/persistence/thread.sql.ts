/**
 * Hot path: a message to a thread that this process has not used for seconds looks the thread up
 * (`FIND_THREAD`), and clients page through lists of threads. Written by hand because the database plans each
 * text once, and because the condition that a thread exists refers to `agents`, which another context maps.
 */
import { type ParameterReferences, statement } from '../../platform/database/index.js';

/** A thread disappears with its own deletion or its agent's at once; a job removes its rows later. */
export const THREAD_EXISTS = `threads.deleted_at is null
    and exists (select 1 from agents where agents.id = threads.agent_id)`;

const COLUMNS = 'id, agent_id, title, channel, metadata, created_at, updated_at, last_message_at';

export const FIND_THREAD = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `
  select ${COLUMNS} from threads where organization_id = ${p.organizationId} and id = ${p.id} and ${THREAD_EXISTS}`,
);

const PAGE_PARAMETERS = {
  organizationId: 'uuid',
  /**
   * Of the thread after which the page begins, as the database wrote it, to the microsecond; null for the first page.
   */
  activityAt: 'text',
  afterId: 'uuid',
  limit: 'integer',
} as const;

/** The latest activity first. @param condition narrows the threads */
const listThreads = (p: ParameterReferences<typeof PAGE_PARAMETERS>, condition: string): string => `
  select ${COLUMNS}, activity_at::text as activity from threads
  where organization_id = ${p.organizationId} and ${THREAD_EXISTS} and ${condition}
    and (activity_at, id) < (coalesce(${p.activityAt}::timestamptz, 'infinity'),
                             coalesce(${p.afterId}, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  order by activity_at desc, id desc limit ${p.limit}`;

export const LIST_THREADS = statement(PAGE_PARAMETERS, (p) => listThreads(p, 'true'));

/** Apart from `LIST_THREADS`, since one text with an optional condition would not use the index by agent. */
export const LIST_THREADS_OF_AGENTS = statement({ ...PAGE_PARAMETERS, agentIds: 'uuid[]' }, (p) =>
  listThreads(p, `agent_id = any(${p.agentIds})`),
);

export const LOCK_THREAD = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `
  select id from threads where organization_id = ${p.organizationId} and id = ${p.id} and ${THREAD_EXISTS} for update`,
);
