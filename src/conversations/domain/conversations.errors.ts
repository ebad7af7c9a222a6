import { DomainError, ValidationFailed } from '../../platform/errors/index.js';
import { APPROVAL_HOURS, type InvalidAnswers } from './approval.js';
import { type FailureFacts, type RunError, RunNotStarted } from './run.js';
import { MAX_SESSION_TURNS } from './session-turns.js';

export function threadNotFound(): DomainError {
  return new DomainError('not_found', 'No thread with this id exists.');
}

export function messageNotFound(): DomainError {
  return new DomainError('not_found', 'The thread has no reply with this id.');
}

export function runNotFound(): DomainError {
  return new DomainError('not_found', 'The thread has no run with this id.');
}

/** The run ended too long ago, or its process died. Its message is in the thread. */
export function runEventsExpired(): DomainError {
  return new DomainError('gone', 'The events of this run are no longer kept. Read the messages of the thread instead.');
}

export function idempotencyMismatch(): DomainError {
  return unprocessable('This Idempotency-Key was used for another request within the last 24 hours. Use a new one.');
}

export function agentDeleted(): DomainError {
  return new DomainError('not_found', 'No agent with this id exists.');
}

export function serviceStopping(): DomainError {
  return new DomainError('unavailable', 'The service is restarting. Send the message again.', {
    code: 'server_shutdown',
    retryAfterSeconds: 2,
  });
}

export function threadBusy(): DomainError {
  return new DomainError(
    'conflict',
    'A run is already under way on this thread. Wait until it has ended, then send the message again.',
    { code: 'thread_busy' },
  );
}

/**
 * The public error for a run that was not started; any other error as it is.
 * @param absent for a thread that does not exist, or cannot be created
 */
export function toRefusal(error: unknown, absent: () => DomainError): unknown {
  if (!(error instanceof RunNotStarted)) return error;
  switch (error.because) {
    case 'thread_absent':
      return absent();
    case 'thread_busy':
      return threadBusy();
    case 'repeated':
      // The first request has claimed the key, and its run cannot be joined.
      return new DomainError('conflict', 'A request with this Idempotency-Key is under way already. Send it again.');
    case 'answered':
      // Another request has answered since these answers were validated.
      return new ValidationFailed('body/resume answers interrupts that are no longer open');
    case 'session_capped':
      // Without `Retry-After`: the cap holds for the whole life of the session.
      return new DomainError(
        'rate_limited',
        `The session has used all its ${MAX_SESSION_TURNS} turns. Start a new session.`,
        { code: 'session_turn_cap_exhausted' },
      );
    case 'stopping':
      return serviceStopping();
    default:
      return error.because satisfies never;
  }
}

/** An AG-UI client may name a thread that does not exist yet. */
export function noThreadToResume(): DomainError {
  return new ValidationFailed('body/resume answers no open interrupt: the agent has no thread of this threadId');
}

/** @param field the path of `userContext` in the request */
export function userContextMismatch(field: string): DomainError {
  return new ValidationFailed(
    `${field} differs from the userContext of the run that asked. Leave it out, or send the same`,
  );
}

export function invalidAnswers(invalid: InvalidAnswers): DomainError {
  switch (invalid.problem) {
    case 'missing': {
      const call = invalid.toolCallId === undefined ? '' : ` (the result of the call ${invalid.toolCallId})`;
      return new ValidationFailed(
        `body must answer every open interrupt of the thread; missing: ${invalid.interruptId}${call}`,
      );
    }
    case 'unknown':
      return new ValidationFailed(`${invalid.at} is no open interrupt of the thread`);
    case 'expired':
      return new ValidationFailed(
        `${invalid.at} has expired: it could be answered for ${APPROVAL_HOURS} hours. Send a message instead`,
      );
    case 'repeated':
      return new ValidationFailed(`${invalid.at} is answered more than once`);
    case 'needs_approval':
      return new ValidationFailed(`${invalid.at} must have approved: the call waits for approval, not for a result`);
    case 'needs_result':
      return new ValidationFailed(`${invalid.at} must have result: the caller makes this call and sends its result`);
    case 'nothing_open':
      return new ValidationFailed('body answers calls, but none of the thread is open. Send a message instead');
    default:
      return invalid satisfies never;
  }
}

/** @param index in the request's `tools` */
export function clientToolNameTaken(index: number, name: string): DomainError {
  return new ValidationFailed(`body/tools/${index} has the name ${name}, which is the name of a tool of the agent`);
}

export function agentCannotRun(message: string): DomainError {
  return unprocessable(message);
}

export function attachmentRefused(name: string, why: string): DomainError {
  return unprocessable(`The attachment ${JSON.stringify(name)} cannot be used: ${why}`);
}

export function attachmentsTooLarge(mostBytes: number): DomainError {
  return unprocessable(
    `The images and PDFs of a request may take at most ${mostBytes} bytes in base64, and these take more.`,
  );
}

/** The connection is closed already, so only the log shows this. */
export function callerDisconnected(): DomainError {
  return new DomainError('gone', 'The caller disconnected before the message was accepted.');
}

/** The response of a waiting route when the run has failed. */
export function runFailed(error: RunError, facts: FailureFacts): DomainError {
  switch (error.code) {
    case 'context_too_long':
    case 'run_limit_reached':
    case 'invalid_structured_output':
    case 'invalid_response_format':
      return unprocessable(error.message);
    case 'provider_auth':
      return facts.ownKey
        ? unprocessable(error.message)
        : new DomainError('bad_gateway', error.message, { code: error.code });
    case 'provider_rate_limited':
    case 'provider_overloaded':
    case 'server_shutdown':
      return new DomainError('unavailable', error.message, {
        code: error.code,
        retryAfterSeconds: facts.retryAfterSeconds ?? DEFAULT_RETRY_SECONDS,
      });
    case 'provider_error':
      return new DomainError('bad_gateway', error.message, { code: error.code });
    case 'run_timeout':
      return new DomainError('gateway_timeout', error.message, { code: error.code });
    case 'internal':
      return new DomainError('internal', error.message);
    default:
      return error.code satisfies never;
  }
}

/** For a provider that does not say how long to wait. */
const DEFAULT_RETRY_SECONDS = 5;

function unprocessable(message: string): DomainError {
  return new DomainError('unprocessable', message, { error: 'unprocessable_entity', bare: true });
}
