import { ModelFailure } from '../../models/index.js';
import type { FailureFacts, RunError, RunOutcome } from '../domain/run.js';
import { RunAborted } from '../domain/run-abort.js';

const INTERNAL: RunError = { code: 'internal', message: 'The run failed for a reason inside the service.' };
export const STOPPING: RunError = {
  code: 'server_shutdown',
  message: 'The service is restarting. Send the message again.',
};
const TOO_LONG: RunError = {
  code: 'run_timeout',
  message: "The run took longer than the agent's timeoutMinutes allow.",
};

/** Fourth phase of a run: the outcome after a failure or an abort. */
export function resolveFailure(error: unknown, signal: AbortSignal): RunOutcome {
  // The abort causes all failures after it.
  const cause: unknown = signal.aborted ? signal.reason : error;
  if (!(cause instanceof RunAborted)) return { status: 'failed', ...publicFailure(cause) };
  switch (cause.abortCause) {
    case 'caller_disconnected':
    case 'cancel_requested':
    case 'agent_deleted':
    case 'thread_deleted':
      return { status: 'cancelled' };
    case 'timeout':
      return { status: 'timed_out', error: TOO_LONG, facts: { ownKey: false } };
    case 'server_shutdown':
      return { status: 'failed', error: STOPPING, facts: { ownKey: false } };
    case 'lost_ownership':
      return { status: 'failed', error: INTERNAL, facts: { ownKey: false } };
    default:
      return cause.abortCause satisfies never;
  }
}

/** The public error: a provider's failure has its own code, anything else is `internal`. */
export function publicFailure(error: unknown): { readonly error: RunError; readonly facts: FailureFacts } {
  if (!(error instanceof ModelFailure)) return { error: INTERNAL, facts: { ownKey: false } };
  const { ownKey, retryAfterSeconds, unacceptable } = error.facts;
  return {
    error: { code: error.code, message: error.message },
    facts: {
      ownKey,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      ...(unacceptable === true ? { refusedContent: true } : {}),
    },
  };
}
