import { Injectable } from '@nestjs/common';
import type { DeletedAgent } from '../../agents/index.js';
import type { RunUsage, SuggestionUsage } from '../../conversations/index.js';
import { Database, type TableRow, tableRow, toDate } from '../../platform/database/index.js';
import type { TimeRange } from '../domain/analytics-range.js';
import type { PushedTrace, RecordedTrace, Trace, TraceSummary } from '../domain/trace.js';
import { COUNT_TRACES, withWhole } from './trace-counts.sql.js';
import { CALLER_SPAN, STEPS, suggestionUsage, TRACE_ERROR, TRACE_USER_CONTEXT, traces } from './traces.schema.js';
import {
  COUNT_OF_THREAD,
  DELETE_TRACES_BEFORE,
  DELETE_TRACES_OF_DELETED_AGENT,
  DELETE_TRACES_OF_ORGANIZATION,
  DELETE_TRACES_OF_THREADS,
  FIRST_EXPORT_PAGE,
  NEXT_EXPORT_PAGE,
  PUSHABLE_SIZES,
  PUSHABLE_TRACES,
  SUMMARIES_OF_AGENT,
  SUMMARIES_OF_THREAD,
  TRACE_BY_ID,
  TRACE_BY_MESSAGE,
} from './traces.sql.js';

/** One trace of an agent, by its own id or that of its message. */
export interface TraceKey {
  readonly organizationId: string;
  readonly agentId: string;
  readonly by: 'id' | 'messageId';
  readonly id: string;
  /** Older traces are not found. */
  readonly from: Date;
}

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

export interface TraceSize {
  readonly id: string;
  /** Of its texts and JSON, roughly. */
  readonly bytes: number;
}

/** A row of `SUMMARY_COLUMNS` with `input` and `output`, whole or cut. */
interface SummaryRow extends Omit<TraceSummary, 'startedAt' | 'usage' | 'error'>, Omit<RunUsage, 'totalTokens'> {
  /** Text of a `timestamptz`. */
  readonly startedAt: string;
  readonly error: unknown;
}

interface TraceRow extends SummaryRow, Pick<Trace, 'timeToFirstTokenMs'> {
  readonly steps: unknown;
  readonly userContext: unknown;
}

type PushedRow = TraceRow & Pick<PushedTrace, 'organizationId' | 'agentName'> & { readonly callerSpan: unknown };

@Injectable()
export class TraceRepository {
  constructor(private readonly database: Database) {}

  async find({ by, ...key }: TraceKey): Promise<Trace | null> {
    const [row] = await (by === 'id' ? TRACE_BY_ID : TRACE_BY_MESSAGE).run<TraceRow>(this.database, key);
    return row ? toTrace(row) : null;
  }

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

  /** Published traces, newest first. `hasMore`: the export has further traces after these. */
  async exportPage({
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

  /**
   * The given traces that may leave the service and whose thread and agent exist, in the order of their ids. For the operator's
   * own backend, so of any organization.
   */
  pushableSizes(ids: readonly string[]): Promise<TraceSize[]> {
    return PUSHABLE_SIZES.run<TraceSize>(this.database, { ids });
  }

  /** As `pushableSizes`, with all that a trace holds. @throws UnreadableJson */
  async pushable(ids: readonly string[]): Promise<PushedTrace[]> {
    const rows = await PUSHABLE_TRACES.run<PushedRow>(this.database, { ids });
    return rows.map((row) => ({
      ...toTrace(row),
      organizationId: row.organizationId,
      agentName: row.agentName,
      callerSpan: CALLER_SPAN.readNullable(row.callerSpan, row.id),
    }));
  }

  /** Deletes the oldest traces from before `cutoff`, at most `limit`. Concurrent calls delete different ones. @returns how many */
  async deleteBefore(cutoff: Date, limit: number): Promise<number> {
    return (await DELETE_TRACES_BEFORE.run(this.database, { cutoff, limit })).length;
  }

  /** As `deleteBefore`, for the traces of an organization. */
  async deleteOfOrganization(organizationId: string, cutoff: Date, limit: number): Promise<number> {
    return (await DELETE_TRACES_OF_ORGANIZATION.run(this.database, { organizationId, cutoff, limit })).length;
  }

  /** As `deleteBefore`, for the traces of a deleted agent. */
  async deleteOfAgent(agent: DeletedAgent, limit: number): Promise<number> {
    return (await DELETE_TRACES_OF_DELETED_AGENT.run(this.database, { ...agent, limit })).length;
  }

  /** As `deleteBefore`, for the traces of threads. */
  async deleteOfThreads(threadIds: readonly string[], limit: number): Promise<number> {
    return (await DELETE_TRACES_OF_THREADS.run(this.database, { threadIds, limit })).length;
  }

  private async countOfThread(threadId: string, filter: Omit<TraceFilter, 'threadId'>): Promise<number> {
    const [row] = await COUNT_OF_THREAD.run<{ count: number }>(this.database, { ...filter, threadId });
    return row?.count ?? 0;
  }
}

/** The row of a trace for the statement that ends its run. */
export function traceRow(organizationId: string, { usage, ...trace }: RecordedTrace): TableRow {
  const { totalTokens: _sum, ...tokens } = usage;
  const unpublished = { publishedAt: null, withheld: false };
  return tableRow(traces, { ...trace, organizationId, ...tokens, ...unpublished });
}

export function suggestionUsageRow({ at: startedAt, cachedInputTokens: _part, ...usage }: SuggestionUsage): TableRow {
  return tableRow(suggestionUsage, { ...usage, startedAt });
}

function toSummary({ startedAt, error, ...row }: SummaryRow): TraceSummary {
  const { id, agentId, threadId, messageId, channel, provider, model, status, latencyMs, input, output } = row;
  const { inputTokens, outputTokens, cachedInputTokens, credits } = row;
  const totalTokens = inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens;
  return {
    ...{ id, agentId, threadId, messageId, channel, provider, model, status, startedAt: toDate(startedAt), latencyMs },
    ...{ usage: { inputTokens, outputTokens, totalTokens, cachedInputTokens, credits }, input, output },
    error: TRACE_ERROR.readNullable(error, id),
  };
}

/** @throws UnreadableJson */
function toTrace(row: TraceRow): Trace {
  const { id, timeToFirstTokenMs, steps, userContext } = row;
  const read = { steps: STEPS.read(steps, id), userContext: TRACE_USER_CONTEXT.read(userContext) };
  return { ...toSummary(row), timeToFirstTokenMs, ...read };
}
