import { describe, expect, it } from '@jest/globals';
import { addKnownUsage, addUsage, type ModelUsage, NO_USAGE, plausibleUsage, UNKNOWN_USAGE } from './model-usage.js';

const CALLS: readonly ModelUsage[] = [
  { inputTokens: 10, outputTokens: 4, cachedInputTokens: 6, thinkingTokens: 1 },
  { inputTokens: 20, outputTokens: 5 },
  UNKNOWN_USAGE,
];

describe('the usage of several calls', () => {
  it('is the sum of the totals, and of the known parts', () => {
    expect(CALLS.slice(0, 2).reduce(addUsage, NO_USAGE)).toEqual({
      inputTokens: 30,
      outputTokens: 9,
      cachedInputTokens: 6,
      thinkingTokens: 1,
    });
  });

  it('is unknown if one call did not report it', () => {
    expect(CALLS.reduce(addUsage, NO_USAGE)).toMatchObject({ inputTokens: null, outputTokens: null });
  });

  it('is charged as far as it is known', () => {
    expect(CALLS.reduce(addKnownUsage, NO_USAGE)).toEqual({
      inputTokens: 30,
      outputTokens: 9,
      cachedInputTokens: 6,
      thinkingTokens: 1,
    });
  });
});

describe('a count that no call can have', () => {
  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e12 + 1, 1e18, '7' as unknown as number])(
    '%s is not reported',
    (absurd) => {
      const parts = { cachedInputTokens: absurd, thinkingTokens: absurd };
      expect(plausibleUsage({ inputTokens: absurd, outputTokens: absurd, ...parts })).toEqual(UNKNOWN_USAGE);
    },
  );

  it('leaves the other counts unchanged', () => {
    const usage = { inputTokens: 1e12, outputTokens: 0, cachedInputTokens: 5, thinkingTokens: null };
    expect(plausibleUsage(usage)).toEqual(usage);
    expect(plausibleUsage({ ...usage, outputTokens: -1 })).toEqual({ ...usage, outputTokens: null });
  });
});
