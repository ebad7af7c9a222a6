import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor, storableJson, toDate } from '../../platform/database/index.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { Channel, Thread } from '../domain/thread.js';
import { claimCte } from './idempotency.sql.js';
import { IS_THERE } from './thread.sql.js';

interface ThreadRow {
  id: string;
  agent_id: string;
  title: string | null;
  channel: Channel;
  metadata: Record<string, string>;
  created_at: string;
  updated_at: string;
  last_message_at: string | null;
}

/** Where a list of threads goes on: after this one. */
export interface ThreadPosition {
  /** As the database wrote it, to the microsecond. */
  readonly activityAt: string;
  readonly id: string;
}

export interface ThreadFilter {
  /** Only threads of these agents; null means all. */
  readonly agentIds: readonly string[] | null;
  readonly after: ThreadPosition | null;
  readonly limit: number;
}

const COLUMNS = 'id, agent_id, title, channel, metadata, created_at, updated_at, last_message_at';

/** The lock lets a deletion of the agent that is under way end first: its job would not see this thread. */
const INSERT_SQL = `
  with agent as (
    select id from agents where organization_id = $2 and id = $3 for key share
  ), ${claimCte({ organization: '$2', operation: '$8', key: '$9', fingerprint: '$10', resource: '$1', at: '$7', source: 'agent' })},
  thread as (
    insert into threads (id, organization_id, agent_id, title, channel, metadata, created_at, updated_at)
    select $1::uuid, $2::uuid, agent.id, $4, $5, $6::jsonb, $7::timestamptz, $7::timestamptz
    from agent where $9::text is null or exists (select 1 from claim)
    returning id
  )
  select exists (select 1 from thread) as inserted from agent`;

@Injectable()
export class ThreadRepository {
  constructor(private readonly database: Database) {}

  /** `agent_absent`: the agent is gone by now; `repeated`: the request's key has made a thread before. */
  async insert(
    organizationId: string,
    thread: Thread,
    idempotency?: IdempotentRequest,
  ): Promise<'inserted' | 'agent_absent' | 'repeated'> {
    const rows = await this.database.query<{ inserted: boolean }>(INSERT_SQL, [
      thread.id,
      organizationId,
      thread.agentId,
      thread.title,
      thread.channel,
      storableJson(thread.metadata),
      thread.createdAt.toISOString(),
      idempotency?.operation ?? null,
      idempotency?.key ?? null,
      idempotency?.fingerprint ?? null,
    ]);
    const row = rows[0];
    if (!row) return 'agent_absent';
    return row.inserted ? 'inserted' : 'repeated';
  }

  async find(organizationId: string, id: string): Promise<Thread | null> {
    const rows = await this.database.query<ThreadRow>(
      `select ${COLUMNS} from threads where organization_id = $1 and id = $2 and ${IS_THERE}`,
      [organizationId, id],
    );
    const row = rows[0];
    return row ? toThread(organizationId, row) : null;
  }

  /** The latest activity first. @returns each thread with its position in the list */
  async list(
    organizationId: string,
    { agentIds, after, limit }: ThreadFilter,
  ): Promise<{ thread: Thread; position: ThreadPosition }[]> {
    const rows = await this.database.query<ThreadRow & { activity: string }>(
      `select ${COLUMNS}, activity_at::text as activity from threads
       where organization_id = $1
         and ($2::uuid[] is null or agent_id = any($2::uuid[]))
         and ($3::timestamptz is null or (activity_at, id) < ($3::timestamptz, $4::uuid))
         and ${IS_THERE}
       order by activity_at desc, id desc limit $5`,
      [organizationId, agentIds, after?.activityAt ?? null, after?.id ?? null, limit],
    );
    return rows.map((row) => ({
      thread: toThread(organizationId, row),
      position: { activityAt: row.activity, id: row.id },
    }));
  }

  /**
   * Removes a thread of fewer than `most` messages, with those and its runs.
   * @returns `too_large` when it has more, `absent` when there is no such thread; nothing is changed then
   */
  async removeSmall(organizationId: string, id: string, most: number): Promise<'removed' | 'too_large' | 'absent'> {
    const rows = await this.database.query<{ small: boolean; removed: boolean }>(
      `with found as (
         select id, (select count(*) from (select 1 from messages where thread_id = $2 limit $3) few) < $3 as small
         from threads where organization_id = $1 and id = $2 and ${IS_THERE}
       ), removed as (
         delete from threads using found where threads.id = found.id and found.small returning threads.id
       )
       select small, exists (select 1 from removed) as removed from found`,
      [organizationId, id, most],
    );
    const row = rows[0];
    if (!row) return 'absent';
    if (!row.small) return 'too_large';
    return row.removed ? 'removed' : 'absent';
  }

  /**
   * Takes the thread away from everybody; its rows are still to be removed. The lock lets a message that is being
   * stored come first, and keeps a later one from beginning a run here.
   * @returns false when there is no such thread
   */
  async markDeleted(transaction: SqlExecutor, organizationId: string, id: string, now: Date): Promise<boolean> {
    const marked = await transaction.query(
      `with found as (
         select id from threads where organization_id = $1 and id = $2 and ${IS_THERE} for update
       )
       update threads set deleted_at = $3, external_id = null from found where threads.id = found.id
       returning threads.id`,
      [organizationId, id, now.toISOString()],
    );
    return marked.length > 0;
  }
}

function toThread(organizationId: string, row: ThreadRow): Thread {
  return {
    id: row.id,
    organizationId,
    agentId: row.agent_id,
    title: row.title,
    channel: row.channel,
    metadata: row.metadata,
    createdAt: toDate(row.created_at),
    updatedAt: toDate(row.updated_at),
    lastMessageAt: row.last_message_at === null ? null : toDate(row.last_message_at),
  };
}
