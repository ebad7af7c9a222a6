import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database, inBatches, rowsOf, type SqlExecutor, storableJson } from '../../platform/database/index.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type { NewThread } from '../domain/new-thread.js';
import { tables } from './conversations.entities.js';
import { FIND_BY_EXTERNAL_ID, INSERT_MESSAGES, INSERT_THREAD } from './new-thread.sql.js';
import { type NewRun, RunRepository, type StartResult } from './run.repository.js';
import { IS_THERE } from './thread.sql.js';

/** Threads that begin with a run: both are kept, or neither is. */
@Injectable()
export class NewThreadRepository {
  constructor(
    private readonly database: Database,
    private readonly runs: RunRepository,
  ) {}

  /**
   * Stores the thread, what was said before, the run and its message in one transaction.
   * @returns `thread_absent` when the agent is gone by now, or has a thread of this external id already
   */
  async start(organizationId: string, newThread: NewThread<MessageAttachment>, run: NewRun): Promise<StartResult> {
    try {
      return await this.database.transaction(async (transaction) => {
        if (!(await insertThread(transaction, organizationId, newThread))) throw new NotOpened('thread_absent');
        await insertHistory(transaction, organizationId, newThread);
        const started = await this.runs.start(organizationId, run, transaction);
        if (!started.started) throw new NotOpened(started.because);
        return started;
      });
    } catch (error) {
      if (error instanceof NotOpened) return { started: false, because: error.because };
      throw error;
    }
  }

  /** @returns the id of the agent's thread that its client calls so, or null */
  async findByExternalId(organizationId: string, agentId: string, externalId: string): Promise<string | null> {
    const rows = await FIND_BY_EXTERNAL_ID.run<{ id: string }>(this.database, { organizationId, agentId, externalId });
    return rows[0]?.id ?? null;
  }

  /** @returns the thread that the run is on, or null */
  async threadOf(organizationId: string, runId: string): Promise<string | null> {
    const [run] = await rowsOf(
      this.database,
      tables
        .selectFrom('runs')
        .innerJoin('threads', 'threads.id', 'runs.thread_id')
        .select('runs.thread_id')
        .where('runs.organization_id', '=', organizationId)
        .where('runs.id', '=', runId)
        .where(sql<boolean>`${sql.raw(IS_THERE)}`),
    );
    return run?.thread_id ?? null;
  }
}

/** Takes the thread back with everything else of the transaction. */
class NotOpened extends Error {
  constructor(readonly because: Extract<StartResult, { started: false }>['because']) {
    super(because);
  }
}

async function insertThread(
  executor: SqlExecutor,
  organizationId: string,
  { thread, externalId }: Pick<NewThread, 'thread' | 'externalId'>,
): Promise<boolean> {
  const { id, agentId, title, channel, createdAt, lastMessageAt } = thread;
  const of = { id, organizationId, agentId, title, channel, externalId, createdAt, lastMessageAt };
  return (await INSERT_THREAD.run(executor, of)).length > 0;
}

async function insertHistory(
  executor: SqlExecutor,
  organizationId: string,
  { thread, history }: NewThread<MessageAttachment>,
): Promise<void> {
  for (const batch of inBatches(history, ({ content }) => Buffer.byteLength(content))) {
    await INSERT_MESSAGES.run(executor, {
      organizationId,
      threadId: thread.id,
      createdAt: thread.createdAt,
      ids: batch.map(({ id }) => id),
      roles: batch.map(({ role }) => role),
      contents: batch.map(({ content }) => content),
      attachments: batch.map(({ attachments = [] }) => storableJson(attachments)),
      clientIds: batch.map(({ clientId = null }) => clientId),
    });
  }
}
