import { Injectable } from '@nestjs/common';
import { Database, toDate } from '../../platform/database/index.js';
import type { TimeRange } from '../domain/analytics-range.js';
import type { TraceSummary } from '../domain/trace.js';
import { COUNT_TRACES, withWhole } from './trace-counts.sql.js';
import { type SummaryRow, toSummary } from './trace-rows.js';
import { COUNT_OF_THREAD, SUMMARIES_OF_AGENT, SUMMARIES_OF_THREAD } from './traces.sql.js';

export interface TraceFilter extends TimeRange {
  readonly organizationId: string;
  readonly agentId: string;
  /** Null for the traces of all threads. */
  readonly threadId: string | null;
}

/** How many traces match, and where to start reading the page at an offset. */
export interface TraceCount {
  readonly count: number;
  /** The page is among the traces that started before; null to read from the newest. */
  readonly before: Date | null;
  /** How many traces of the list started at `before` or later. */
  readonly skipped: number;
}

@Injectable()
export class TraceListRepository {
  constructor(private readonly database: Database) {}

  async count({ threadId, ...filter }: TraceFilter, offset: number): Promise<TraceCount> {
    if (threadId !== null) return { count: await this.countOfThread(threadId, filter), before: null, skipped: 0 };
    const [row] = await COUNT_TRACES.run<{ count: number; before: string | null; skipped: number }>(this.database, {
      ...{ organizationId: filter.organizationId, agentId: filter.agentId, offset },
      ...withWhole('hour', filter),
    });
    if (!row) throw new Error('A count has no row');
    return { ...row, before: row.before === null ? null : toDate(row.before) };
  }

  /** Newest first. */
  async summaries({ threadId, ...filter }: TraceFilter, offset: number, limit: number): Promise<TraceSummary[]> {
    const page = { ...filter, offset, limit };
    const rows = await (threadId === null
      ? SUMMARIES_OF_AGENT.run<SummaryRow>(this.database, page)
      : SUMMARIES_OF_THREAD.run<SummaryRow>(this.database, { ...page, threadId }));
    return rows.map(toSummary);
  }

  private async countOfThread(threadId: string, filter: Omit<TraceFilter, 'threadId'>): Promise<number> {
    const [row] = await COUNT_OF_THREAD.run<{ count: number }>(this.database, { ...filter, threadId });
    return row?.count ?? 0;
  }
}
