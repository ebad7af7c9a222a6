import { LockMode, raw } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database, rowsOf, toDate, type Transaction } from '../../platform/database/index.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { Thread } from '../domain/thread.js';
import { METADATA, type StoredThread, tables, threads } from './conversations.entities.js';
import { IdempotencyRepository } from './idempotency.repository.js';
import { FIND_THREAD, IS_THERE, isThere } from './thread.sql.js';

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

@Injectable()
export class ThreadRepository {
  constructor(
    private readonly database: Database,
    private readonly keys: IdempotencyRepository,
  ) {}

  /** `agent_absent`: the agent is gone by now; `repeated`: the request's key has made a thread before. */
  insert(
    organizationId: string,
    thread: Thread,
    idempotency?: IdempotentRequest,
  ): Promise<'inserted' | 'agent_absent' | 'repeated'> {
    return this.database.transaction(async (transaction) => {
      // The lock lets a deletion of the agent that is under way end first: its job would not see this thread.
      const agent = tables.selectFrom('agents').select('id').forKeyShare();
      const there = agent.where('organization_id', '=', organizationId).where('id', '=', thread.agentId);
      if ((await rowsOf(transaction, there)).length === 0) return 'agent_absent';
      const { id, createdAt } = thread;
      if (idempotency && !(await this.keys.claim(transaction, organizationId, idempotency, { id, createdAt })))
        return 'repeated';
      transaction.em.persist(transaction.em.create(threads, { ...thread, externalId: null, deletedAt: null }));
      return 'inserted';
    });
  }

  /** The little that every message to the thread needs of it. */
  async findAgentOf(organizationId: string, id: string): Promise<Pick<Thread, 'id' | 'agentId'> | null> {
    const [row] = await FIND_THREAD.run<{ id: string; agent_id: string }>(this.database, { organizationId, id });
    return row ? { id: row.id, agentId: row.agent_id } : null;
  }

  async find(organizationId: string, id: string): Promise<Thread | null> {
    const thread = await this.database.read((em) => em.findOne(threads, { organizationId, id, ...there() }));
    return thread && toThread(thread);
  }

  /** The latest activity first. @returns each thread with its position in the list */
  async list(
    organizationId: string,
    { agentIds, after, limit }: ThreadFilter,
  ): Promise<{ thread: Thread; position: ThreadPosition }[]> {
    let page = tables
      .selectFrom('threads')
      .select(['id', 'agent_id', 'title', 'channel', 'metadata', 'created_at', 'updated_at', 'last_message_at'])
      .select(sql<string>`activity_at::text`.as('activity'))
      .where('organization_id', '=', organizationId)
      .where(sql<boolean>`${sql.raw(IS_THERE)}`)
      .orderBy('activity_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit);
    if (agentIds) page = page.where(sql<boolean>`agent_id = any(${agentIds}::uuid[])`);
    if (after)
      page = page.where((eb) => eb(eb.refTuple('activity_at', 'id'), '<', eb.tuple(after.activityAt, after.id)));
    const rows = await rowsOf(this.database, page);
    return rows.map((row) => ({
      thread: {
        id: row.id,
        organizationId,
        agentId: row.agent_id,
        title: row.title,
        channel: row.channel,
        metadata: METADATA.read(row.metadata),
        createdAt: toDate(row.created_at),
        updatedAt: toDate(row.updated_at),
        lastMessageAt: row.last_message_at === null ? null : toDate(row.last_message_at),
      },
      position: { activityAt: row.activity, id: row.id },
    }));
  }

  /**
   * Takes the thread away from everybody: a thread of fewer than `most` messages with these and its runs; of a larger
   * one the rows are still to be removed. The lock lets a message that is being stored come first, and keeps a later one
   * from beginning a run here.
   */
  async remove(
    transaction: Transaction,
    organizationId: string,
    id: string,
    { most, now }: { readonly most: number; readonly now: Date },
  ): Promise<'removed' | 'marked' | 'absent'> {
    const { em } = transaction;
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
    const thread = await em.findOne(threads, { organizationId, id, ...there() }, lock);
    if (!thread) return 'absent';
    const held = await rowsOf(
      transaction,
      tables.selectFrom('messages').select('id').where('thread_id', '=', id).limit(most),
    );
    if (held.length < most) {
      em.remove(thread);
      return 'removed';
    }
    thread.deletedAt = now;
    thread.externalId = null;
    return 'marked';
  }
}

/** A fragment belongs to one statement, so each gets its own. */
function there(): Record<string, []> {
  return { [raw(isThere)]: [] };
}

function toThread(stored: StoredThread): Thread {
  const { id, organizationId, agentId, title, channel, metadata, createdAt, updatedAt, lastMessageAt } = stored;
  return { id, organizationId, agentId, title, channel, metadata, createdAt, updatedAt, lastMessageAt };
}
