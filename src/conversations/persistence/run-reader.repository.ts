import { Injectable } from '@nestjs/common';
import type { ProviderType, StopReason } from '../../models/index.js';
import { Database, toDate } from '../../platform/database/index.js';
import type { ApprovalDecision, ApprovalRequest } from '../domain/approval.js';
import type { Message } from '../domain/message.js';
import type { FailureFacts, Run, RunError, RunReference, RunStatus } from '../domain/run.js';
import { MESSAGE_COLUMNS, type MessageRow, toMessage } from './message.repository.js';
import type { RunModel } from './run.repository.js';
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
}

/** What a thread waits for. */
export interface OpenApprovals {
  /** The run that asked; null when none waits for an answer. */
  readonly runId: string | null;
  readonly requests: readonly ApprovalRequest[];
  /** A run is under way on the thread. */
  readonly busy: boolean;
}

interface RunRow {
  id: string;
  thread_id: string;
  agent_id: string;
  owner_id: string;
  message_id: string;
  status: RunStatus;
  error: (RunError & Partial<FailureFacts>) | null;
  /** PostgreSQL's bigint, which its driver answers as text. */
  input_tokens: string | number | null;
  output_tokens: string | number | null;
  credits: number;
  created_at: string;
  completed_at: string | null;
  provider: ProviderType;
  model: string;
  use_own_api_key: boolean;
  stop_reason: StopReason | null;
  approvals: ApprovalRequest[];
  decisions: ApprovalDecision[] | null;
}

/** Reads runs that may have been made by any process. */
@Injectable()
export class RunReader {
  constructor(private readonly database: Database) {}

  /** Whether a run is under way on the thread. */
  async isBusy(organizationId: string, threadId: string): Promise<boolean> {
    const rows = await this.database.query(
      `select 1 from runs where organization_id = $1 and thread_id = $2 and status = 'running'`,
      [organizationId, threadId],
    );
    return rows.length > 0;
  }

  /** @returns null when the thread has no such run */
  async find(organizationId: string, threadId: string, runId: string): Promise<StoredRun | null> {
    const rows = await this.database.query<RunRow>(
      `select id, thread_id, agent_id, owner_id, message_id, status, error, input_tokens, output_tokens, credits, created_at,
              completed_at, provider, model, use_own_api_key, stop_reason, approvals, decisions
       from runs where organization_id = $1 and thread_id = $2 and id = $3`,
      [organizationId, threadId, runId],
    );
    const row = rows[0];
    if (!row) return null;
    const messages = await this.database.query<MessageRow>(`select ${MESSAGE_COLUMNS} from messages where id = $1`, [
      row.message_id,
    ]);
    return toStoredRun(organizationId, row, messages[0] ? toMessage(messages[0]) : null);
  }

  /** @returns null when there is no such thread */
  async openApprovals(organizationId: string, threadId: string): Promise<OpenApprovals | null> {
    const rows = await this.database.query<{ run_id: string | null; approvals: ApprovalRequest[] | null; busy: boolean }>(
      `select asked.id as run_id, asked.approvals,
              exists (select 1 from runs where runs.thread_id = threads.id and runs.status = 'running') as busy
       from threads left join runs asked on asked.id = threads.awaiting_run_id
       where threads.organization_id = $1 and threads.id = $2 and ${IS_THERE}`,
      [organizationId, threadId],
    );
    const row = rows[0];
    return row ? { runId: row.run_id, requests: row.approvals ?? [], busy: row.busy } : null;
  }

  /** Notes that the run shall end; its owner sees it at its next heartbeat. */
  async requestCancel({ organizationId, threadId, runId }: RunReference): Promise<void> {
    await this.database.query(
      `update runs set cancel_requested_at = now()
       where organization_id = $1 and thread_id = $2 and id = $3 and status = 'running' and cancel_requested_at is null`,
      [organizationId, threadId, runId],
    );
  }
}

function toStoredRun(organizationId: string, row: RunRow, message: Message | null): StoredRun {
  const inputTokens = row.input_tokens === null ? null : Number(row.input_tokens);
  const outputTokens = row.output_tokens === null ? null : Number(row.output_tokens);
  const { ownKey = false, retryAfterSeconds } = row.error ?? {};
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
      error: row.error === null ? null : { code: row.error.code, message: row.error.message },
      approvals: row.approvals,
      stopReason: row.stop_reason ?? undefined,
    },
    ownerId: row.owner_id,
    message,
    model: { provider: row.provider, model: row.model, useOwnApiKey: row.use_own_api_key },
    facts: retryAfterSeconds === undefined ? { ownKey } : { ownKey, retryAfterSeconds },
    decisions: row.decisions,
  };
}
