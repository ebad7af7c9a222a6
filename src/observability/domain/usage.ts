import { type BucketCounts, DurationHistogram } from './duration-histogram.js';

export type BucketWidth = 'hour' | 'day';

const HOUR_MS = 3_600_000;
export const WIDTH_MS: Readonly<Record<BucketWidth, number>> = { hour: HOUR_MS, day: 24 * HOUR_MS };

/** The usage of one run, or of one request for suggestions; durations are numbers of buckets, see `DurationHistogram`. */
export interface UsageFacts {
  readonly agentId: string;
  /** False for suggestions, of which only tokens and credits count. */
  readonly isRun: boolean;
  readonly failed: boolean;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Ten-thousandths of a credit: whole numbers, so that no sum depends on the order. */
  readonly creditUnits: number;
  readonly duration: number | null;
  readonly firstToken: number | null;
}

/** Half and 95 per cent of the values are at or below these, in milliseconds; null where there is none. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
}

/** What the runs of one bucket of time took together. */
export interface UsageSummary {
  readonly runs: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly creditUnits: number;
  readonly duration: Percentiles;
  readonly firstToken: Percentiles;
}

/** What is needed to go on adding. */
export interface UsageHistograms {
  readonly durations: BucketCounts;
  readonly firstTokens: BucketCounts;
}

/** The usage of an agent within one bucket of time, while runs are added to it. */
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
