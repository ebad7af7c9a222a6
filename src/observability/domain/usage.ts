import { type BucketCounts, DurationHistogram } from './duration-histogram.js';

export type BucketWidth = 'hour' | 'day';

const HOUR_MS = 3_600_000;
export const WIDTH_MS: Readonly<Record<BucketWidth, number>> = { hour: HOUR_MS, day: 24 * HOUR_MS };

/** The usage of one run or one request for suggestions. Durations are bucket numbers of `DurationHistogram`. */
export interface UsageFacts {
  readonly agentId: string;
  /** False for suggestions: only their tokens and credits count. */
  readonly isRun: boolean;
  readonly failed: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Ten-thousandths of a credit: a sum of integers does not depend on the order. */
  readonly creditUnits: number;
  readonly duration: number | null;
  readonly firstToken: number | null;
}

/** In milliseconds; null if there are no values. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
}

export interface UsageSummary {
  readonly runs: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly creditUnits: number;
  readonly duration: Percentiles;
  readonly firstToken: Percentiles;
}

/** Needed to add further runs to a summary. */
export interface UsageHistograms {
  readonly durations: BucketCounts;
  readonly firstTokens: BucketCounts;
}

/** Sums up the usage of an agent in one bucket of time. */
export class Usage {
  private runs = 0;
  private failed = 0;
  private inputTokens = 0;
  private outputTokens = 0;
  private creditUnits = 0;
  private readonly durations = new DurationHistogram();
  private readonly firstTokens = new DurationHistogram();

  add(run: UsageFacts): void {
    this.inputTokens += run.inputTokens;
    this.outputTokens += run.outputTokens;
    this.creditUnits += run.creditUnits;
    if (!run.isRun) return;
    this.runs += 1;
    this.failed += run.failed ? 1 : 0;
    this.durations.add(run.duration);
    this.firstTokens.add(run.firstToken);
  }

  merge(kept: UsageSummary, { durations, firstTokens }: UsageHistograms): void {
    this.runs += kept.runs;
    this.failed += kept.failed;
    this.inputTokens += kept.inputTokens;
    this.outputTokens += kept.outputTokens;
    this.creditUnits += kept.creditUnits;
    this.durations.merge(durations);
    this.firstTokens.merge(firstTokens);
  }

  get summary(): UsageSummary {
    const { runs, failed, inputTokens, outputTokens, creditUnits, durations, firstTokens } = this;
    const times = { duration: percentilesOf(durations), firstToken: percentilesOf(firstTokens) };
    return { runs, failed, inputTokens, outputTokens, creditUnits, ...times };
  }

  get histograms(): UsageHistograms {
    return { durations: this.durations.bucketCounts, firstTokens: this.firstTokens.bucketCounts };
  }
}

function percentilesOf(histogram: DurationHistogram): Percentiles {
  return { p50: histogram.percentile(0.5), p95: histogram.percentile(0.95) };
}
