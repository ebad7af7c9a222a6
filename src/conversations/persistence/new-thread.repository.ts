import { Injectable } from '@nestjs/common';
import { Database, inBatches, type SqlExecutor, storableJson } from '../../platform/database/index.js';
import type { MessageAttachment } from '../domain/attachment.js';
import { type NewThread, storedCalls } from '../domain/new-thread.js';
import { RunNotStarted } from '../domain/run.js';
import { FIND_BY_EXTERNAL_ID, INSERT_MESSAGES, INSERT_THREAD } from './new-thread.sql.js';
import type { NewRun } from './new-run.js';
import { RunRepository, type StartedRun } from './run.repository.js';

/** Threads that are created together with their first run: the database stores both or neither. */
@Injectable()
export class NewThreadRepository {
  constructor(
    private readonly database: Database,
    private readonly runs: RunRepository,
  ) {}

  /**
   * Stores the thread, its history, the run and the run's message in one transaction.
   * @throws RunNotStarted; `thread_absent` when the agent has been deleted, or has a thread with this external id already
   */
  start(organizationId: string, newThread: NewThread<MessageAttachment>, run: NewRun): Promise<StartedRun> {
    return this.database.transaction(async (transaction) => {
      if (!(await insertThread(transaction, organizationId, newThread))) throw new RunNotStarted('thread_absent');
      await insertHistory(transaction, organizationId, newThread);
      return this.runs.start(organizationId, run, transaction);
    });
  }

  /** @returns the id of the agent's thread with this external id, or null */
  async findByExternalId(organizationId: string, agentId: string, externalId: string): Promise<string | null> {
    const rows = await FIND_BY_EXTERNAL_ID.run<{ id: string }>(this.database, { organizationId, agentId, externalId });
    return rows[0]?.id ?? null;
  }
}

async function insertThread(
  executor: SqlExecutor,
  organizationId: string,
  { thread, externalId }: Pick<NewThread, 'thread' | 'externalId'>,
): Promise<boolean> {
  const { id, agentId, title, channel, createdAt, lastMessageAt } = thread;
  const parameters = { id, organizationId, agentId, title, channel, externalId, createdAt, lastMessageAt };
  return (await INSERT_THREAD.run(executor, parameters)).length > 0;
}

async function insertHistory(
  executor: SqlExecutor,
  organizationId: string,
  { thread, history }: NewThread<MessageAttachment>,
): Promise<void> {
  const rows = history.map((message) => ({ message, ...callColumns(message) }));
  const bytes = ({ message, toolCalls, transcript }: (typeof rows)[number]): number =>
    Buffer.byteLength(message.content) + toolCalls.length + transcript.length;
  for (const batch of inBatches(rows, bytes)) {
    await INSERT_MESSAGES.run(executor, {
      organizationId,
      threadId: thread.id,
      createdAt: thread.createdAt,
      ids: batch.map(({ message }) => message.id),
      roles: batch.map(({ message }) => message.role),
      contents: batch.map(({ message }) => message.content),
      attachments: batch.map(({ message: { attachments = [] } }) => storableJson(attachments)),
      clientIds: batch.map(({ message: { clientId = null } }) => clientId),
      toolCalls: batch.map(({ toolCalls }) => toolCalls),
      transcripts: batch.map(({ transcript }) => transcript),
    });
  }
}

function callColumns(message: NewThread<MessageAttachment>['history'][number]): {
  readonly toolCalls: string;
  readonly transcript: string;
} {
  const { toolCalls, transcript } = storedCalls(message);
  return { toolCalls: storableJson(toolCalls), transcript: storableJson(transcript) };
}
