/** Each bucket ends 5 % above the one before, so a percentile is off by at most 2.5 %. */
export const BUCKET_GROWTH = 1.05;

/** How many durations each bucket has, by its number: bucket n ends at `BUCKET_GROWTH` to the power of n milliseconds. */
export type BucketCounts = Readonly<Record<string, number>>;

/** Counts of durations in buckets of growing width: small for any number of durations, and histograms can be added without loss. */
export class DurationHistogram {
  private readonly counts = new Map<number, number>();
  private total = 0;

  /** @param bucket as `bucketOf` of the persistence computes it; null for no duration */
  add(bucket: number | null, count = 1): void {
    if (bucket === null) return;
    this.counts.set(bucket, (this.counts.get(bucket) ?? 0) + count);
    this.total += count;
  }

  merge(counts: BucketCounts): void {
    for (const [bucket, count] of Object.entries(counts)) this.add(Number(bucket), count);
  }

  get bucketCounts(): BucketCounts {
    return Object.fromEntries(this.counts);
  }

  /**
   * In whole milliseconds, by the nearest rank.
   * @param share between 0 and 1
   * @returns null if there is no duration
   */
  percentile(share: number): number | null {
    if (this.total === 0) return null;
    const rank = Math.max(1, Math.ceil(share * this.total));
    let reached = 0;
    for (const [bucket, count] of [...this.counts].sort(([left], [right]) => left - right)) {
      reached += count;
      if (reached >= rank) return middleOf(bucket);
    }
    return null;
  }
}

/** The value with the same relative distance from both bounds of the bucket. */
function middleOf(bucket: number): number {
  const upper = BUCKET_GROWTH ** bucket;
  return Math.round((2 * upper) / (BUCKET_GROWTH + 1));
}
