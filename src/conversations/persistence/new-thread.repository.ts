import { Injectable } from '@nestjs/common';
import { Database, inBatches, type SqlExecutor, storableJson } from '../../platform/database/index.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type { NewThread } from '../domain/new-thread.js';
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
    const rows = await this.database.query<{ id: string }>(
      `select id from threads where organization_id = $1 and agent_id = $2 and external_id = $3 and ${IS_THERE}`,
      [organizationId, agentId, externalId],
    );
    return rows[0]?.id ?? null;
  }

  /** @returns the thread that the run is on, or null */
  async threadOf(organizationId: string, runId: string): Promise<string | null> {
    const rows = await this.database.query<{ thread_id: string }>(
      `select thread_id from runs join threads on threads.id = runs.thread_id
       where runs.organization_id = $1 and runs.id = $2 and ${IS_THERE}`,
      [organizationId, runId],
    );
    return rows[0]?.thread_id ?? null;
  }
}

/** Takes the thread back with everything else of the transaction. */
class NotOpened extends Error {
  constructor(readonly because: Extract<StartResult, { started: false }>['because']) {
    super(because);
  }
}

/** The lock lets a deletion of the agent that is under way end first: its job would not see this thread. */
async function insertThread(
  executor: SqlExecutor,
  organizationId: string,
  { thread, externalId }: Pick<NewThread, 'thread' | 'externalId'>,
): Promise<boolean> {
  const rows = await executor.query(
    `insert into threads
       (id, organization_id, agent_id, title, channel, external_id, created_at, updated_at, last_message_at)
     select $1::uuid, $2::uuid, agents.id, $4, $5, $6, $7::timestamptz, $7::timestamptz, $8::timestamptz
     from (select id from agents where organization_id = $2 and id = $3 for key share) agents
     on conflict (agent_id, external_id) where external_id is not null do nothing
     returning id`,
    [
      thread.id,
      organizationId,
      thread.agentId,
      thread.title,
      thread.channel,
      externalId,
      thread.createdAt.toISOString(),
      thread.lastMessageAt?.toISOString() ?? null,
    ],
  );
  return rows.length > 0;
}

/** The rows are numbered in the order in which they are selected, and the statements follow one another. */
async function insertHistory(
  executor: SqlExecutor,
  organizationId: string,
  { thread, history }: NewThread<MessageAttachment>,
): Promise<void> {
  for (const batch of inBatches(history, ({ content }) => Buffer.byteLength(content))) {
    await executor.query(
      `insert into messages (id, organization_id, thread_id, role, content, status, created_at, attachments)
       select said.id, $1::uuid, $2::uuid, said.role, said.content, 'completed', $3::timestamptz, said.attachments::jsonb
       from unnest($4::uuid[], $5::text[], $6::text[], $7::text[]) with ordinality
         as said(id, role, content, attachments, position)
       order by said.position`,
      [
        organizationId,
        thread.id,
        thread.createdAt.toISOString(),
        batch.map(({ id }) => id),
        batch.map(({ role }) => role),
        batch.map(({ content }) => content),
        batch.map(({ attachments = [] }) => storableJson(attachments)),
      ],
    );
  }
}
