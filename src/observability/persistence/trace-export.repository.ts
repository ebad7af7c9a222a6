import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { TimeRange } from '../domain/analytics-range.js';
import type { Trace } from '../domain/trace.js';
import { type TraceRow, toTrace } from './trace-rows.js';
import { FIRST_EXPORT_PAGE, NEXT_EXPORT_PAGE } from './traces.sql.js';

/** The last trace that an export has returned. */
export interface ExportPosition {
  readonly startedAt: Date;
  readonly id: string;
}

export interface ExportPageQuery extends TimeRange {
  readonly organizationId: string;
  readonly agentId: string;
  /** Null for the first page. */
  readonly after: ExportPosition | null;
  /** Most traces of the page, and most stored bytes; a larger trace is a page by itself. */
  readonly limit: number;
  readonly maxBytes: number;
}

@Injectable()
export class TraceExportRepository {
  constructor(private readonly database: Database) {}

  /** Published traces, newest first. `hasMore`: the export has further traces after these. */
  async page({
    after,
    ...query
  }: ExportPageQuery): Promise<{ readonly traces: readonly Trace[]; readonly hasMore: boolean }> {
    const rows = await (after === null
      ? FIRST_EXPORT_PAGE.run<TraceRow & { found: number }>(this.database, query)
      : NEXT_EXPORT_PAGE.run<TraceRow & { found: number }>(this.database, {
          ...query,
          afterStartedAt: after.startedAt,
          afterId: after.id,
        }));
    return { traces: rows.map(toTrace), hasMore: (rows[0]?.found ?? 0) > rows.length };
  }
}
