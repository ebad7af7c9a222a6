import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BUCKET_GROWTH, DurationHistogram } from './duration-histogram.js';

const bucketOf = (ms: number): number => Math.ceil(Math.log(Math.max(ms, 1)) / Math.log(BUCKET_GROWTH));

function histogramOf(durations: readonly number[]): DurationHistogram {
  const histogram = new DurationHistogram();
  for (const ms of durations) histogram.add(bucketOf(ms));
  return histogram;
}

function exact(durations: readonly number[], share: number): number {
  const sorted = [...durations].sort((left, right) => left - right);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? NaN;
}

const durations = fc.array(fc.integer({ min: 1, max: 1_200_000 }), { minLength: 1, maxLength: 200 });

describe('a histogram of durations', () => {
  it('has percentiles with an error of at most 2.5 %, or half a millisecond', () => {
    fc.assert(
      fc.property(durations, fc.constantFrom(0.5, 0.95, 1), (all, share) => {
        const wanted = exact(all, share);
        expect(Math.abs((histogramOf(all).percentile(share) ?? NaN) - wanted)).toBeLessThanOrEqual(
          0.5 + wanted * 0.025,
        );
      }),
    );
  });

  it('is the same for durations in one histogram and in several merged ones', () => {
    fc.assert(
      fc.property(durations, durations, (some, others) => {
        const merged = histogramOf(some);
        merged.merge(histogramOf(others).bucketCounts);
        expect(merged.bucketCounts).toEqual(histogramOf([...some, ...others]).bucketCounts);
      }),
    );
  });

  it('has no percentile without a duration', () => {
    const histogram = new DurationHistogram();
    histogram.add(null);
    expect(histogram.percentile(0.5)).toBeNull();
  });
});
