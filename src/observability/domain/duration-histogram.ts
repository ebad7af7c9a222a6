/** Each bucket ends five per cent above the one before, so that a percentile is off by two and a half at most. */
export const BUCKET_GROWTH = 1.05;

/** How many durations fell into each bucket, by its number: bucket n ends at `BUCKET_GROWTH` to the power of n milliseconds. */
export type BucketCounts = Readonly<Record<string, number>>;

/** Durations as counts in buckets that grow with them: of any number the same small size, and added to one another without loss. */
export class DurationHistogram {
  private readonly counts = new Map<number, number>();
  private total = 0;

  /** @param bucket as the database counts it, see `bucketOf` of the persistence; null is no duration */
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
   * @returns null where there is no duration
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

/** The value that is as far from the bucket's lower bound as from its upper one, in proportion. */
function middleOf(bucket: number): number {
  const upper = BUCKET_GROWTH ** bucket;
  return Math.round((2 * upper) / (BUCKET_GROWTH + 1));
}
