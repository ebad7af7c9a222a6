import { raw } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { type InferResult, sql } from 'kysely';
import { Database, rowsOf, toDate } from '../../platform/database/index.js';
import type { ApprovalDecision, ApprovalRequest } from '../domain/approval.js';
import type { Message } from '../domain/message.js';
import type { FailureFacts, Run, RunReference } from '../domain/run.js';
import type { RunUser } from '../domain/user-key.js';
import { APPROVALS, DECISIONS, RUN_ERROR, runs, tables } from './conversations.entities.js';
import { findMessage } from './message.repository.js';
import type { RunModel } from './new-run.js';
import { toRunUser } from './run-user.js';
import { IS_THERE } from './thread.sql.js';

/** A run as it is stored, with the reply it wrote. */
export interface StoredRun {
  readonly run: Run;
  /** The process that carries it, or carried it to its end. */
  readonly ownerId: string;
  readonly message: Message | null;
  readonly model: RunModel;
  readonly facts: FailureFacts;
  /** What the run went on with; null where a message began it. */
  readonly decisions: readonly ApprovalDecision[] | null;
  /** No run has answered yet what it asks, though it may have expired. */
  readonly unanswered: boolean;
}

/** What a thread waits for. */
export interface OpenApprovals {
  /** The run that asked; null when none waits for an answer. */
  readonly runId: string | null;
  readonly requests: readonly ApprovalRequest[];
  /** The user of that run. */
  readonly user: RunUser;
  /** When that run ended; null when there is none. */
  readonly askedAt: Date | null;
  /** A run is under way on the thread. */
  readonly busy: boolean;
}

type RunRow = InferResult<ReturnType<typeof runOf>>[number];

/** Reads runs that may have been made by any process. */
@Injectable()
export class RunReader {
  constructor(private readonly database: Database) {}

  /** Whether a run is under way on the thread. */
  async isBusy(organizationId: string, threadId: string): Promise<boolean> {
    const running = { organizationId, threadId, status: 'running' } as const;
    return (await this.database.read((em) => em.count(runs, running))) > 0;
  }

  /** @returns null when the thread has no such run */
  async find(organizationId: string, threadId: string, runId: string): Promise<StoredRun | null> {
    const [row] = await rowsOf(this.database, runOf(organizationId, threadId, runId));
    if (!row) return null;
    return toStoredRun(organizationId, row, await findMessage(this.database, row.message_id));
  }

  /** @returns null when there is no such thread */
  async openApprovals(organizationId: string, threadId: string): Promise<OpenApprovals | null> {
    const [row] = await rowsOf(
      this.database,
      tables
        .selectFrom('threads')
        .leftJoin('runs as asked', 'asked.id', 'threads.awaiting_run_id')
        .select(['asked.id as run_id', 'asked.approvals', 'asked.completed_at as asked_at'])
        .select(['asked.user_context', 'asked.session_id', 'asked.session_user_key'])
        .select((eb) =>
          eb
            .exists(
              eb
                .selectFrom('runs')
                .select('runs.id')
                .whereRef('runs.thread_id', '=', 'threads.id')
                .where('runs.status', '=', 'running'),
            )
            .as('busy'),
        )
        .where('threads.organization_id', '=', organizationId)
        .where('threads.id', '=', threadId)
        .where(sql<boolean>`${sql.raw(IS_THERE)}`),
    );
    if (!row) return null;
    const askedAt = row.asked_at === null ? null : toDate(row.asked_at);
    return {
      runId: row.run_id,
      requests: APPROVALS.readNullable(row.approvals, row.run_id ?? threadId) ?? [],
      user: toRunUser(row),
      askedAt,
      busy: row.busy === true,
    };
  }

  /** When the run ended; null while it is under way, and for one that is not there. */
  async endOf(organizationId: string, id: string): Promise<Date | null> {
    const run = await this.database.read((em) => em.findOne(runs, { organizationId, id }, { fields: ['completedAt'] }));
    return run?.completedAt ?? null;
  }

  /** Notes that the run shall end; its owner sees it at its next heartbeat. */
  async requestCancel({ organizationId, threadId, runId: id }: RunReference): Promise<void> {
    const uncancelled = { organizationId, threadId, id, status: 'running', cancelRequestedAt: null } as const;
    await this.database.write((em) => em.nativeUpdate(runs, uncancelled, { cancelRequestedAt: raw('now()') }));
  }
}

/** Rows rather than entities, since clients ask for a run again and again until it has ended. */
function runOf(organizationId: string, threadId: string, runId: string) {
  return tables
    .selectFrom('runs')
    .select(['id', 'thread_id', 'agent_id', 'owner_id', 'message_id', 'status', 'error', 'credits', 'created_at'])
    .select(['completed_at', 'provider', 'model', 'use_own_api_key', 'stop_reason', 'approvals', 'decisions'])
    .select([
      sql<number | null>`input_tokens::float8`.as('input_tokens'),
      sql<number | null>`output_tokens::float8`.as('output_tokens'),
      sql<boolean>`exists (select 1 from threads where threads.awaiting_run_id = runs.id and threads.id = runs.thread_id)`.as(
        'unanswered',
      ),
    ])
    .where('organization_id', '=', organizationId)
    .where('thread_id', '=', threadId)
    .where('id', '=', runId);
}

function toStoredRun(organizationId: string, row: RunRow, message: Message | null): StoredRun {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = row;
  const failure = RUN_ERROR.readNullable(row.error, row.id);
  const { ownKey = false, retryAfterSeconds } = failure ?? {};
  return {
    run: {
      id: row.id,
      organizationId,
      threadId: row.thread_id,
      agentId: row.agent_id,
      status: row.status,
      createdAt: toDate(row.created_at),
      completedAt: row.completed_at === null ? null : toDate(row.completed_at),
      usage: {
        inputTokens,
        outputTokens,
        totalTokens: inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens,
        credits: row.credits,
      },
      error: failure && { code: failure.code, message: failure.message },
      approvals: APPROVALS.read(row.approvals, row.id),
      stopReason: row.stop_reason ?? undefined,
    },
    ownerId: row.owner_id,
    message,
    model: { provider: row.provider, model: row.model, useOwnApiKey: row.use_own_api_key },
    facts: retryAfterSeconds === undefined ? { ownKey } : { ownKey, retryAfterSeconds },
    decisions: DECISIONS.readNullable(row.decisions, row.id),
    unanswered: row.unanswered,
  };
}
