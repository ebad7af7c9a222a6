import { Injectable } from '@nestjs/common';
import { lockAgent } from '../../agents/index.js';
import { Database, toDate, type Transaction } from '../../platform/database/index.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { Channel, Thread } from '../domain/thread.js';
import { messages, METADATA, threads } from './conversations.entities.js';
import { IdempotencyRepository } from './idempotency.repository.js';
import { FIND_THREAD, LIST_THREADS, LIST_THREADS_OF_AGENTS, LOCK_THREAD } from './thread.sql.js';

export interface ThreadPosition {
  /** As the database wrote it, to the microsecond. */
  readonly activityAt: string;
  readonly id: string;
}

export interface ListedThread {
  readonly thread: Thread;
  readonly position: ThreadPosition;
}

export interface ThreadFilter {
  /** Only threads of these agents; null means all. */
  readonly agentIds: readonly string[] | null;
  readonly after: ThreadPosition | null;
  readonly limit: number;
}

interface ThreadRow {
  id: string;
  agent_id: string;
  title: string | null;
  channel: Channel;
  metadata: unknown;
  created_at: string;
  updated_at: string;
  last_message_at: string | null;
}

@Injectable()
export class ThreadRepository {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyRepository,
  ) {}

  /**
   * @returns `agent_absent` when the agent has been deleted; `repeated` when the request's key has made a thread before
   */
  insert(
    organizationId: string,
    thread: Thread,
    idempotency?: IdempotentRequest,
  ): Promise<'inserted' | 'agent_absent' | 'repeated'> {
    return this.database.transaction(async (transaction) => {
      const { id, agentId, createdAt } = thread;
      if ((await lockAgent(transaction, organizationId, agentId, 'shared')) === null) return 'agent_absent';
      if (idempotency && !(await this.keys.claim(transaction, organizationId, idempotency, { id, createdAt })))
        return 'repeated';
      transaction.em.persist(transaction.em.create(threads, { ...thread, externalId: null, deletedAt: null }));
      return 'inserted';
    });
  }

  async find(organizationId: string, id: string): Promise<Thread | null> {
    const [row] = await FIND_THREAD.run<ThreadRow>(this.database, { organizationId, id });
    return row ? toThread(organizationId, row) : null;
  }

  /** The latest activity first. */
  async list(organizationId: string, { agentIds, after, limit }: ThreadFilter): Promise<ListedThread[]> {
    const page = { organizationId, activityAt: after?.activityAt ?? null, afterId: after?.id ?? null, limit };
    const rows = agentIds
      ? await LIST_THREADS_OF_AGENTS.run<ListedRow>(this.database, { ...page, agentIds })
      : await LIST_THREADS.run<ListedRow>(this.database, page);
    return rows.map((row) => ({
      thread: toThread(organizationId, row),
      position: { activityAt: row.activity, id: row.id },
    }));
  }

  /**
   * Deletes a thread of fewer than `most` messages with all its rows. Marks a larger one as deleted, which hides it
   * from every reader; a job has to remove its rows. The lock waits for a message that is being stored, and later ones
   * do not find the thread.
   */
  async remove(
    transaction: Transaction,
    organizationId: string,
    id: string,
    { most, now }: { readonly most: number; readonly now: Date },
  ): Promise<'removed' | 'marked' | 'absent'> {
    const { em } = transaction;
    if ((await LOCK_THREAD.run(transaction, { organizationId, id })).length === 0) return 'absent';
    const some = await em.createQueryBuilder(messages).select('id').where({ threadId: id }).limit(most).execute();
    if (some.length < most) {
      await em.nativeDelete(threads, { id });
      return 'removed';
    }
    await em.nativeUpdate(threads, { id }, { deletedAt: now, externalId: null });
    return 'marked';
  }
}

type ListedRow = ThreadRow & { activity: string };

function toThread(organizationId: string, row: ThreadRow): Thread {
  return {
    id: row.id,
    organizationId,
    agentId: row.agent_id,
    title: row.title,
    channel: row.channel,
    metadata: METADATA.read(row.metadata),
    createdAt: toDate(row.created_at),
    updatedAt: toDate(row.updated_at),
    lastMessageAt: row.last_message_at === null ? null : toDate(row.last_message_at),
  };
}
