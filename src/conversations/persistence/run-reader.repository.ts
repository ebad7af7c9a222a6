import { Injectable } from '@nestjs/common';
import type { ProviderType, StopReason } from '../../models/index.js';
import { Database, toDate } from '../../platform/database/index.js';
import { derivedId } from '../../platform/ids/index.js';
import { type ApprovalDecision, type ApprovalRequest, oldestOpenRequests } from '../domain/approval.js';
import type { Message } from '../domain/message.js';
import { type FailureFacts, LONGEST_RUN_MS, type Run, type RunReference, type RunStatus } from '../domain/run.js';
import type { RunContinuation } from '../domain/run-options.js';
import type { RunUser } from '../domain/user-key.js';
import { APPROVALS, CONTINUATION, DECISIONS, RUN_ERROR, runs } from './conversations.entities.js';
import { findMessage } from './message.repository.js';
import type { RunModel } from './new-run.js';
import {
  FIND_RUN,
  FIND_THREAD_OF_CALLS,
  FIND_THREAD_OF_RUN,
  OPEN_APPROVALS,
  RUNS_UNDER_WAY,
} from './run-reader.sql.js';
import { type RunUserRow, toRunUser } from './run-user.js';

/** A run as it is stored, with the reply it wrote. */
export interface StoredRun {
  readonly run: Run;
  /** The process that executes the run, or executed it. */
  readonly ownerId: string;
  readonly message: Message | null;
  readonly model: RunModel;
  readonly facts: FailureFacts;
  /** The answers that the run began with; null when a message began it. */
  readonly decisions: readonly ApprovalDecision[] | null;
  /** No later run has answered the run's requests for approval. They may have expired. */
  readonly unanswered: boolean;
  /** False once the thread is deleted; the run is removed later. */
  readonly threadExists: boolean;
}

/** The requests for approval that a thread's next run can answer. */
export interface OpenApprovals {
  readonly runId: string | null;
  readonly requests: readonly ApprovalRequest[];
  readonly user: RunUser;
  readonly continuation: RunContinuation;
  /** When that run ended; null when there is none. */
  readonly askedAt: Date | null;
  readonly busy: boolean;
}

/** The columns that `RUN_COLUMNS` selects, and `approvals`. */
export interface RunRow {
  id: string;
  thread_id: string;
  agent_id: string;
  status: RunStatus;
  error: unknown;
  credits: number;
  created_at: string;
  completed_at: string | null;
  stop_reason: StopReason | null;
  approvals: unknown;
  input_tokens: number | null;
  output_tokens: number | null;
  cached_input_tokens: number | null;
}

interface StoredRunRow extends RunRow {
  owner_id: string;
  message_id: string;
  provider: ProviderType;
  model: string;
  use_own_api_key: boolean;
  decisions: unknown;
  unanswered: boolean;
  thread_exists: boolean;
}

interface OpenApprovalsRow extends RunUserRow {
  run_id: string | null;
  approvals: unknown;
  continuation: unknown;
  asked_at: string | null;
  busy: boolean;
}

@Injectable()
export class RunReader {
  constructor(private readonly database: Database) {}

  async isBusy(organizationId: string, threadId: string): Promise<boolean> {
    const running = { organizationId, threadId, status: 'running' } as const;
    return (await this.database.read((em) => em.count(runs, running))) > 0;
  }

  async find(organizationId: string, threadId: string, runId: string): Promise<StoredRun | null> {
    const [row] = await FIND_RUN.run<StoredRunRow>(this.database, { organizationId, threadId, runId });
    if (!row) return null;
    return toStoredRun(organizationId, row, await findMessage(this.database, row.message_id));
  }

  /** Those of the given runs, whatever their organizations, that have neither ended nor been deleted. */
  async underWay(runIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await RUNS_UNDER_WAY.run<{ id: string }>(this.database, { runIds });
    return new Set(rows.map(({ id }) => id));
  }

  /** @returns the id of the thread that the run is on; null when there is no such run */
  async findThreadOf(organizationId: string, runId: string): Promise<string | null> {
    const [thread] = await FIND_THREAD_OF_RUN.run<{ id: string }>(this.database, { organizationId, runId });
    return thread?.id ?? null;
  }

  async openApprovals(organizationId: string, threadId: string): Promise<OpenApprovals | null> {
    const [row] = await OPEN_APPROVALS.run<OpenApprovalsRow>(this.database, { organizationId, threadId });
    if (!row) return null;
    return {
      runId: row.run_id,
      requests: APPROVALS.readNullable(row.approvals, row.run_id ?? threadId) ?? [],
      user: toRunUser(row),
      continuation: CONTINUATION.read(row.continuation ?? {}, row.run_id ?? threadId),
      askedAt: row.asked_at === null ? null : toDate(row.asked_at),
      busy: row.busy,
    };
  }

  /**
   * @returns the thread whose last run waits for the results of all these calls; null when there is none, or more than
   * one: ids of calls are the provider's, and may not be unique
   */
  async findThreadOfCalls(
    organizationId: string,
    agentId: string,
    toolCallIds: readonly string[],
    now: Date,
  ): Promise<string | null> {
    const calls = toolCallIds.map((toolCallId) => ({ toolCallId, kind: 'client_call' }));
    // Ids of runs begin with the time of their creation. A run that has not expired began no earlier.
    const after = derivedId(new Date(oldestOpenRequests(now).getTime() - LONGEST_RUN_MS), []);
    const parameters = { organizationId, agentId, calls, now, after };
    const rows = await FIND_THREAD_OF_CALLS.run<{ id: string }>(this.database, parameters);
    return rows.length === 1 ? (rows[0]?.id ?? null) : null;
  }

  /** @returns when the run ended; null while it is under way, and when there is no such run */
  async findEnd(organizationId: string, id: string): Promise<Date | null> {
    const run = await this.database.read((em) => em.findOne(runs, { organizationId, id }, { fields: ['completedAt'] }));
    return run?.completedAt ?? null;
  }

  /** Marks the run to be cancelled; its owner finds the mark with its next heartbeat. */
  async requestCancel({ organizationId, threadId, runId: id }: RunReference, now: Date): Promise<void> {
    const uncancelled = { organizationId, threadId, id, status: 'running', cancelRequestedAt: null } as const;
    await this.database.write((em) => em.nativeUpdate(runs, uncancelled, { cancelRequestedAt: now }));
  }
}

function toStoredRun(organizationId: string, row: StoredRunRow, message: Message | null): StoredRun {
  const failure = RUN_ERROR.readNullable(row.error, row.id);
  const { ownKey = false, retryAfterSeconds } = failure ?? {};
  return {
    run: toRun(organizationId, row),
    ownerId: row.owner_id,
    message,
    model: { provider: row.provider, model: row.model, useOwnApiKey: row.use_own_api_key },
    facts: retryAfterSeconds === undefined ? { ownKey } : { ownKey, retryAfterSeconds },
    decisions: DECISIONS.readNullable(row.decisions, row.id),
    unanswered: row.unanswered,
    threadExists: row.thread_exists,
  };
}

export function toRun(organizationId: string, row: RunRow): Run {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = row;
  const failure = RUN_ERROR.readNullable(row.error, row.id);
  return {
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
      cachedInputTokens: row.cached_input_tokens,
      credits: row.credits,
    },
    error: failure && { code: failure.code, message: failure.message },
    approvals: APPROVALS.read(row.approvals, row.id),
    stopReason: row.stop_reason ?? undefined,
  };
}
