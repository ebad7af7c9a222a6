import { describe, expect, it } from '@jest/globals';
import { retryDelayMs } from './retry-delay.js';
import { forbidsIndexing } from './robots-file.js';

describe('the pause before a retry', () => {
  it('is four times as long each time, from 2 s to 5 minutes', () => {
    const delays = [1, 2, 3, 4, 5, 1_000].map((attempt) => retryDelayMs(attempt, null, 0));
    expect(delays).toEqual([2_000, 8_000, 32_000, 128_000, 300_000, 300_000]);
  });

  it('is shortened by up to half at random', () => {
    expect([0, 0.5, 1].map((jitter) => retryDelayMs(3, null, jitter))).toEqual([32_000, 24_000, 16_000]);
  });

  it('is never shorter than the server asked for, which is an hour at most', () => {
    expect(retryDelayMs(1, 60_000, 1)).toBe(60_000);
    expect(retryDelayMs(3, 1_000, 0)).toBe(32_000);
    expect(retryDelayMs(1, 86_400_000, 0)).toBe(3_600_000);
  });
});

describe('X-Robots-Tag', () => {
  it.each<[string | undefined, boolean]>([
    [undefined, false],
    ['', false],
    ['noindex', true],
    ['NOINDEX', true],
    ['none', true],
    ['nofollow, noindex', true],
    ['noarchive, nosnippet', false],
    ['otherbot: noindex', false],
    ['otherbot: noindex, nofollow', false],
    ['otherbot: nofollow, noindex', false],
    ['agent-service: noindex', true],
    ['Agent-Service: nofollow, noindex', true],
    ['otherbot: nofollow, agent-service: none', true],
    ['agent-service: nofollow, otherbot: noindex', false],
    ['*: noindex', true],
    ['max-snippet: 50, noindex', true],
    ['unavailable_after: 25 Jun 2035 15:00:00 PST, noindex', true],
    ['noindexing', false],
  ])('%s', (header, expected) => {
    expect(forbidsIndexing(header)).toBe(expected);
  });
});
