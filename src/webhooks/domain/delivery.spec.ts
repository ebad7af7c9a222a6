import { describe, expect, it } from '@jest/globals';
import { afterAttempt, type AttemptResult } from './delivery.js';

const NOW = new Date('2026-11-28T12:00:00.000Z');

function result(status: number | null, retryAfterMs: number | null = null): AttemptResult {
  const error = status !== null && status < 300 ? null : 'It failed.';
  return { attempt: { at: NOW.toISOString(), status, error, latencyMs: 5 }, retryAfterMs };
}

function pauseMs(of: AttemptResult, tries: number): number | null {
  const { nextAttemptAt } = afterAttempt(of, tries, NOW);
  return nextAttemptAt && nextAttemptAt.getTime() - NOW.getTime();
}

describe('after an attempt', () => {
  it('a delivery is pending seven times, for 18 hours at most, and then has failed', () => {
    const pauses = Array.from({ length: 8 }, (_, index) => pauseMs(result(500), index + 1));
    const seconds = pauses.map((pause) => pause && pause / 1_000);
    expect(seconds).toEqual([5, 60, 300, 1_800, 7_200, 18_000, 36_000, null]);
    expect(afterAttempt(result(null), 8, NOW).status).toBe('failed');
  });

  it('that succeeded nothing follows', () => {
    expect(afterAttempt(result(204), 3, NOW)).toEqual({ status: 'delivered', nextAttemptAt: null });
  });

  it('that was answered with 410 a delivery has failed', () => {
    expect(afterAttempt(result(410, 5_000), 1, NOW)).toEqual({ status: 'failed', nextAttemptAt: null });
  });

  it.each([
    [60_000, 60_000],
    [3_600_000, 3_600_000],
    [3_600_001, 5_000],
    [0, 5_000],
  ])('an endpoint that asks for %i ms is sent the next one after %i ms', (asked, wanted) => {
    expect(pauseMs(result(503, asked), 1)).toBe(wanted);
  });
});
