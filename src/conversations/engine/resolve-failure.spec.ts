import { describe, expect, it } from '@jest/globals';
import { ModelFailure } from '../../models/index.js';
import { RunAborted, type RunAbortCause } from '../domain/run-abort.js';
import { resolveFailure } from './resolve-failure.js';

function abortedBy(cause: RunAbortCause): AbortSignal {
  const controller = new AbortController();
  controller.abort(new RunAborted(cause));
  return controller.signal;
}

describe('what ends a run', () => {
  it.each([
    ['caller_disconnected', 'cancelled'],
    ['agent_deleted', 'cancelled'],
    ['timeout', 'timed_out'],
    ['server_shutdown', 'failed'],
    ['lost_ownership', 'failed'],
  ] as const)('an abort by %s ends it as %s, whatever broke because of it', (cause, status) => {
    expect(resolveFailure(new Error('socket closed'), abortedBy(cause)).status).toBe(status);
  });

  it("keeps the code of a provider's failure, and the facts that the caller needs", () => {
    const failure = new ModelFailure('provider_rate_limited', 'Busy.', {
      retryable: false,
      retryAfterSeconds: 9,
      ownKey: true,
    });

    expect(resolveFailure(failure, new AbortController().signal)).toEqual({
      status: 'failed',
      error: { code: 'provider_rate_limited', message: 'Busy.' },
      facts: { ownKey: true, retryAfterSeconds: 9 },
    });
  });

  it('never shows the text of an internal error', () => {
    const outcome = resolveFailure(new Error('password=hunter2'), new AbortController().signal);

    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'internal' } });
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
  });
});
