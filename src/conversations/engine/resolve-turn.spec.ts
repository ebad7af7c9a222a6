import { describe, expect, it } from '@jest/globals';
import { ModelFailure } from '../../models/index.js';
import { TurnAborted, type TurnAbortCause } from '../domain/turn-abort.js';
import { resolveTurn } from './resolve-turn.js';

function abortedBy(cause: TurnAbortCause): AbortSignal {
  const controller = new AbortController();
  controller.abort(new TurnAborted(cause));
  return controller.signal;
}

describe('what ends a turn', () => {
  it.each([
    ['caller_gone', 'cancelled'],
    ['agent_deleted', 'cancelled'],
    ['timeout', 'timed_out'],
    ['server_shutdown', 'failed'],
    ['lost_ownership', 'failed'],
  ] as const)('an abort by %s ends it as %s, whatever broke because of it', (cause, status) => {
    expect(resolveTurn(new Error('socket closed'), abortedBy(cause)).status).toBe(status);
  });

  it("keeps what a provider's failure is called and what a caller needs of it", () => {
    const failure = new ModelFailure('provider_rate_limited', 'Busy.', {
      retryable: false,
      retryAfterSeconds: 9,
      ownKey: true,
    });

    expect(resolveTurn(failure, new AbortController().signal)).toEqual({
      status: 'failed',
      error: { code: 'provider_rate_limited', message: 'Busy.' },
      facts: { ownKey: true, retryAfterSeconds: 9 },
    });
  });

  it('never shows the text of an error of its own', () => {
    const outcome = resolveTurn(new Error('password=hunter2'), new AbortController().signal);

    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'internal' } });
    expect(JSON.stringify(outcome)).not.toContain('hunter2');
  });
});
