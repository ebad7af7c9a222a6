import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database, rowsOf, toDate } from '../../platform/database/index.js';
import type { TimeRange } from '../domain/analytics-range.js';
import type { TraceSummary } from '../domain/trace.js';
import { SUMMARY_CHARACTERS } from '../limits.js';
import { COUNT_TRACES, withWhole } from './trace-counts.sql.js';
import { notOfDeletedThread, tables, toSummary } from './trace-tables.js';

export interface TraceFilter extends TimeRange {
  readonly organizationId: string;
  readonly agentId: string;
  /** Null for every conversation. */
  readonly threadId: string | null;
}

/** How many there are, and where a page begins that has `offset` before it. */
export interface TraceCount {
  readonly count: number;
  /** Where to begin to read: `skipped` of those before the page are at or after. Null for the newest. */
  readonly before: Date | null;
  readonly skipped: number;
}

@Injectable()
export class TraceListRepository {
  constructor(private readonly database: Database) {}

  async count(filter: TraceFilter, offset: number): Promise<TraceCount> {
    const { organizationId, agentId, threadId } = filter;
    if (threadId !== null) return { count: await this.countOfThread(filter), before: null, skipped: 0 };
    const range = { organizationId, agentId, offset, ...withWhole('hour', filter) };
    const [row] = await COUNT_TRACES.run<{ count: number; before: string | null; skipped: number }>(
      this.database,
      range,
    );
    if (!row) throw new Error('A count has no row');
    return { ...row, before: row.before === null ? null : toDate(row.before) };
  }

  /** Newest first. */
  async summaries(filter: TraceFilter, offset: number, limit: number): Promise<TraceSummary[]> {
    const page = summariesOf(filter).orderBy('started_at', 'desc').orderBy('id', 'desc').offset(offset).limit(limit);
    return (await rowsOf(this.database, page)).map(toSummary);
  }

  private async countOfThread(filter: TraceFilter): Promise<number> {
    const [row] = await rowsOf(this.database, matching(filter).select(sql<number>`count(*)::int`.as('count')));
    return row?.count ?? 0;
  }
}

function matching({ organizationId, agentId, threadId, from, to }: TraceFilter) {
  const found = tables
    .selectFrom('traces')
    .where('organization_id', '=', organizationId)
    .where('agent_id', '=', agentId)
    .where('started_at', '>=', from.toISOString())
    .where('started_at', '<', to.toISOString())
    .where(sql<boolean>`${sql.raw(notOfDeletedThread('traces'))}`);
  return threadId === null ? found : found.where('thread_id', '=', threadId);
}

/** The drivers answer a `bigint` as text; as a float it is a number, exact as far as JavaScript's are. */
function summariesOf(filter: TraceFilter) {
  return matching(filter)
    .select([
      'id',
      'agent_id',
      'thread_id',
      'message_id',
      'channel',
      'provider',
      'model',
      'status',
      'started_at',
      'credits',
      'error',
    ])
    .select([
      sql<number>`latency_ms::float8`.as('latency_ms'),
      sql<number | null>`input_tokens::float8`.as('input_tokens'),
      sql<number | null>`output_tokens::float8`.as('output_tokens'),
      // Code points.
      sql<string>`left(input, ${SUMMARY_CHARACTERS})`.as('input'),
      sql<string>`left(output, ${SUMMARY_CHARACTERS})`.as('output'),
    ]);
}
