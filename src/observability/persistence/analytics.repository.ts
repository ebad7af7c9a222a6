import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '../../platform/database/index.js';
import type { TimeRange } from '../domain/analytics-range.js';
import { type BucketWidth, Usage, type UsageFacts, type UsageHistograms, type UsageSummary } from '../domain/usage.js';
import { readHistograms, toUsageSummary, type UsageColumns } from './publish-traces.repository.js';
import { USAGE_OF_RANGE } from './publish-traces.sql.js';
import { COUNT_REPLIES, COUNT_USERS, type RANGE, withWhole } from './trace-counts.sql.js';

/** The stored usage of a bucket, with histograms if the bucket also has unpublished runs; or one unpublished run. */
type UsageRow =
  | (UsageColumns & { readonly [Name in keyof UsageHistograms]: unknown } & { readonly run: null })
  | { readonly run: UsageFacts & { readonly start: number } };

/** Analytics of an agent: stored sums, and the unpublished runs of the last minutes. */
@Injectable()
export class AnalyticsRepository {
  constructor(private readonly database: Database) {}

  /** The number of existing replies of runs that started within the range. */
  replies(organizationId: string, agentId: string, range: TimeRange): Promise<number> {
    return this.count(COUNT_REPLIES, organizationId, agentId, withWhole('hour', range));
  }

  /** The number of distinct users of runs that started within the range. */
  users(organizationId: string, agentId: string, range: TimeRange): Promise<number> {
    return this.count(COUNT_USERS, organizationId, agentId, withWhole('day', range));
  }

  /** Usage by the start of the bucket, in milliseconds since 1970, without empty buckets. */
  async usage(
    organizationId: string,
    agentId: string,
    range: TimeRange,
    width: BucketWidth,
  ): Promise<Map<number, UsageSummary>> {
    const rows = await USAGE_OF_RANGE.run<UsageRow>(this.database, { organizationId, agentId, width, ...range });
    const summaries = new Map<number, UsageSummary>();
    const growing = new Map<number, Usage>();
    for (const row of rows) {
      if (row.run) {
        usageAt(growing, row.run.start).add(row.run);
        continue;
      }
      const { start, durations, firstTokens } = row;
      summaries.set(start, toUsageSummary(row));
      if (durations && firstTokens)
        usageAt(growing, start).merge(toUsageSummary(row), readHistograms({ durations, firstTokens }));
    }
    for (const [start, usage] of growing) summaries.set(start, usage.summary);
    return summaries;
  }

  private async count(
    count: Statement<typeof RANGE>,
    organizationId: string,
    agentId: string,
    range: ReturnType<typeof withWhole>,
  ): Promise<number> {
    const [row] = await count.run<{ count: number }>(this.database, { organizationId, agentId, ...range });
    return row?.count ?? 0;
  }
}

function usageAt(growing: Map<number, Usage>, start: number): Usage {
  const usage = growing.get(start) ?? new Usage();
  growing.set(start, usage);
  return usage;
}
