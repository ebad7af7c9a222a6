import { z } from 'zod';
import type { ModelFailureCode, StopReason } from '../../models/index.js';
import { named, type Stored } from '../../platform/stored-json/index.js';
import type { ApprovalRequest } from './approval.js';

export type RunStatus = 'running' | 'completed' | 'requires_action' | 'failed' | 'cancelled' | 'timed_out';

/** Why a run did not complete, as `run.error.code` and the stream's `RUN_ERROR` name it. */
export type RunErrorCode = ModelFailureCode | 'run_timeout' | 'server_shutdown' | 'internal';

export const RUN_ERROR_CODES = Object.keys({
  provider_error: true,
  provider_rate_limited: true,
  provider_auth: true,
  provider_overloaded: true,
  run_timeout: true,
  context_too_long: true,
  server_shutdown: true,
  internal: true,
} satisfies Record<RunErrorCode, true>) as readonly RunErrorCode[];

export const runError = z.object({
  code: named<RunErrorCode>(),
  /** Public; never quotes a provider. */
  message: z.string(),
});
export type RunError = Stored<typeof runError>;

/** Token counts are null where a provider broke off before it told them: unknown is not zero. */
export interface RunUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
  readonly credits: number;
}

/** Names a run: its id means something on its thread in its organization, and nowhere else. */
export interface RunReference {
  readonly organizationId: string;
  readonly threadId: string;
  readonly runId: string;
}

/** One turn of a conversation: from a user's message, or the answers to what a run asked, to the agent's reply. */
export interface Run {
  readonly id: string;
  readonly organizationId: string;
  readonly threadId: string;
  readonly agentId: string;
  readonly status: RunStatus;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
  readonly usage: RunUsage;
  readonly error: RunError | null;
  /** What the run ended with where it requires action; the next run of its thread answers all of them. */
  readonly approvals: readonly ApprovalRequest[];
  /** Why the model's last answer stopped; absent where no model answered. */
  readonly stopReason?: StopReason | undefined;
}

/** What became of a run; the engine decides it once and everything else follows from it. */
export type RunOutcome =
  | { readonly status: 'completed'; readonly blocked: boolean }
  | { readonly status: 'requires_action'; readonly approvals: readonly ApprovalRequest[] }
  | { readonly status: 'failed'; readonly error: RunError; readonly facts: FailureFacts }
  | { readonly status: 'timed_out'; readonly error: RunError; readonly facts: FailureFacts }
  | { readonly status: 'cancelled' };

/** What a waiting caller is answered on top of the error itself. */
const failureFacts = z.object({
  /** The key that the provider refused was the agent's own. */
  ownKey: z.boolean().default(false),
  retryAfterSeconds: z.number().optional(),
});
export type FailureFacts = Stored<typeof failureFacts>;

export const storedFailure = runError.extend(failureFacts.shape);

export function errorOf(outcome: RunOutcome): RunError | null {
  switch (outcome.status) {
    case 'failed':
    case 'timed_out':
      return outcome.error;
    case 'completed':
    case 'requires_action':
    case 'cancelled':
      return null;
    default:
      return outcome satisfies never;
  }
}
