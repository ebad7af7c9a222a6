import type { BucketWidth, UsageHistograms, UsageSummary } from '../domain/usage.js';
import { DURATIONS, FIRST_TOKENS } from './traces.schema.js';

/** A row of `USAGE_COLUMNS`: the stored usage of an agent in one bucket of time. */
export interface UsageColumns extends Omit<UsageSummary, 'duration' | 'firstToken'> {
  readonly agentId: string;
  readonly width: BucketWidth;
  /** In milliseconds since 1970. */
  readonly start: number;
  readonly durationP50: number | null;
  readonly durationP95: number | null;
  readonly firstTokenP50: number | null;
  readonly firstTokenP95: number | null;
}

export type UsageWithHistograms = UsageColumns & { readonly [Name in keyof UsageHistograms]: unknown };

export function readHistograms({
  durations,
  firstTokens,
}: { readonly [Name in keyof UsageHistograms]: unknown }): UsageHistograms {
  return { durations: DURATIONS.read(durations), firstTokens: FIRST_TOKENS.read(firstTokens) };
}

export function toUsageSummary(row: UsageColumns): UsageSummary {
  const { runs, failed, inputTokens, outputTokens, creditUnits } = row;
  const duration = { p50: row.durationP50, p95: row.durationP95 };
  const firstToken = { p50: row.firstTokenP50, p95: row.firstTokenP95 };
  return { runs, failed, inputTokens, outputTokens, creditUnits, duration, firstToken };
}
