import { z } from 'zod';
import type { ModelFailureCode, StopReason } from '../../models/index.js';
import { named, type Stored } from '../../platform/stored-json/index.js';
import { type ApprovalRequest, hasExpired } from './approval.js';

export const RUN_STATUSES = ['running', 'completed', 'requires_action', 'failed', 'cancelled', 'timed_out'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** The codes of `run.error` and of the stream's `RUN_ERROR`. */
export type RunErrorCode =
  | ModelFailureCode
  | 'run_timeout'
  | 'run_limit_reached'
  | 'invalid_structured_output'
  | 'invalid_response_format'
  | 'server_shutdown'
  | 'internal';

export const RUN_ERROR_CODES = Object.keys({
  provider_error: true,
  provider_rate_limited: true,
  provider_auth: true,
  provider_overloaded: true,
  run_timeout: true,
  context_too_long: true,
  run_limit_reached: true,
  invalid_structured_output: true,
  invalid_response_format: true,
  server_shutdown: true,
  internal: true,
} satisfies Record<RunErrorCode, true>) as readonly RunErrorCode[];

const EVENTS_UNAVAILABLE = 'run_events_unavailable';

export const runError = z.object({
  code: named<RunErrorCode>(),
  /** Public; never quotes a provider, except for why it refuses the caller's response format. */
  message: z.string(),
});
export type RunError = Stored<typeof runError>;

/** Why a stream ends with an error: why its run failed, or that the run goes on and its events cannot be read. */
export interface StreamError extends Omit<RunError, 'code'> {
  readonly code: RunErrorCode | typeof EVENTS_UNAVAILABLE;
}
export const STREAM_ERROR_CODES = [...RUN_ERROR_CODES, EVENTS_UNAVAILABLE];

/** Token counts are null when a provider ended before it reported them. */
export interface RunUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
  /** The part of `inputTokens` that the provider read from its prompt cache; null when it did not report it. */
  readonly cachedInputTokens: number | null;
  readonly credits: number;
}

/** In milliseconds; longer than any run: an agent's `timeoutMinutes` is at most 20, and runs of dead processes end within a minute. */
export const LONGEST_RUN_MS = 3_600_000;

/** Identifies a run. A run's id alone does not: a caller may send the id of another organization's run. */
export interface RunReference {
  readonly organizationId: string;
  readonly threadId: string;
  readonly runId: string;
}

/** One turn of a conversation: from a user's message, or the answers to requests for approval, to the agent's reply. */
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
  /** The requests for approval of a run that requires action; the thread's next run answers all of them. */
  readonly approvals: readonly ApprovalRequest[];
  /** Why the model's last answer stopped; absent when no model answered. */
  readonly stopReason?: StopReason | undefined;
}

/**
 * The run with only those of its requests for approval that can still be answered.
 * @param unanswered no later run of the thread has answered or declined them
 */
export function withOpenRequests(run: Run, unanswered: boolean, now: Date): Run {
  const areOpen = unanswered && run.completedAt !== null && !hasExpired(run.completedAt, now);
  return areOpen ? run : { ...run, approvals: [] };
}

/** `answered`: the requests that the run answers are no longer open. */
export type StartRefusal = 'thread_absent' | 'thread_busy' | 'repeated' | 'answered' | 'session_capped' | 'stopping';

/** Nothing was stored. */
export class RunNotStarted extends Error {
  constructor(readonly because: StartRefusal) {
    super(`The run was not started: ${because}`);
  }
}

export type RunOutcome =
  | { readonly status: 'completed'; readonly blocked: boolean }
  | { readonly status: 'requires_action'; readonly approvals: readonly ApprovalRequest[] }
  | { readonly status: 'failed'; readonly error: RunError; readonly facts: FailureFacts }
  | { readonly status: 'timed_out'; readonly error: RunError; readonly facts: FailureFacts }
  | { readonly status: 'cancelled' };

/** What the response of a waiting route needs besides the error. */
const failureFacts = z.object({
  /** The provider refused the agent's own key, and not one of the service. */
  ownKey: z.boolean().default(false),
  retryAfterSeconds: z.number().optional(),
  /** The provider refused what the request holds: the conversation, its files, the tools. */
  refusedContent: z.boolean().optional(),
});
export type FailureFacts = Stored<typeof failureFacts>;

export const storedFailure = runError.extend(failureFacts.shape);

export function outcomeError(outcome: RunOutcome): RunError | null {
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
