import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { earlier, later, type TimeRange } from '../domain/analytics-range.js';
import { type BucketWidth, Usage, type UsageSummary, WIDTH_MS } from '../domain/usage.js';
import { RETENTION_MS } from '../limits.js';
import { AnalyticsRepository } from '../persistence/analytics.repository.js';

export interface UsageBucket {
  readonly start: Date;
  readonly usage: UsageSummary;
}

const NONE = new Usage().summary;

@Injectable()
export class ReadUsage {
  constructor(
    private readonly analytics: AnalyticsRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * All buckets of the range, oldest first, including empty ones. A run counts in the bucket of its start, once it has ended, even if
   * its thread has been deleted.
   * @param range of whole buckets
   */
  async execute(organizationId: string, agentId: string, range: TimeRange, width: BucketWidth): Promise<UsageBucket[]> {
    const kept = this.withinRetention(range);
    const found =
      kept.from < kept.to
        ? await this.analytics.usage(organizationId, agentId, kept, width)
        : new Map<number, UsageSummary>();
    const count = Math.ceil((range.to.getTime() - range.from.getTime()) / WIDTH_MS[width]);
    return Array.from({ length: count }, (_, index) => {
      const start = range.from.getTime() + index * WIDTH_MS[width];
      return { start: new Date(start), usage: found.get(start) ?? NONE };
    });
  }

  /** The part of a range that may have runs. The database does not support years as far away as a query may name. */
  private withinRetention({ from, to }: TimeRange): TimeRange {
    const now = this.clock.now().getTime();
    const oldest = new Date(now - RETENTION_MS - WIDTH_MS.day);
    const newest = new Date(now + WIDTH_MS.day);
    return { from: later(from, oldest), to: earlier(to, newest) };
  }
}
