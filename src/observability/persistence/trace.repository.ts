import { Injectable } from '@nestjs/common';
import type { SuggestionUsage } from '../../conversations/index.js';
import { Database, type TableRow, tableRow } from '../../platform/database/index.js';
import type { PushedTrace, RecordedTrace, Trace } from '../domain/trace.js';
import { type TraceRow, toTrace } from './trace-rows.js';
import { CALLER_SPAN, suggestionUsage, traces } from './traces.schema.js';
import {
  DELETE_TRACES_BEFORE,
  DELETE_TRACES_OF_THREADS,
  PUSHABLE_SIZES,
  PUSHABLE_TRACES,
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

export interface TraceSize {
  readonly id: string;
  /** Of its texts and JSON, roughly. */
  readonly bytes: number;
}

type PushedRow = TraceRow & Pick<PushedTrace, 'organizationId' | 'agentName'> & { readonly callerSpan: unknown };

@Injectable()
export class TraceRepository {
  constructor(private readonly database: Database) {}

  async find({ by, ...key }: TraceKey): Promise<Trace | null> {
    const [row] = await (by === 'id' ? TRACE_BY_ID : TRACE_BY_MESSAGE).run<TraceRow>(this.database, key);
    return row ? toTrace(row) : null;
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

  /**
   * Deletes the oldest traces from before `cutoff`, at most `limit`. Concurrent calls delete different ones.
   * @returns how many
   */
  async deleteBefore(cutoff: Date, limit: number): Promise<number> {
    return (await DELETE_TRACES_BEFORE.run(this.database, { cutoff, limit })).length;
  }

  /**
   * Deletes traces of the threads, at most `limit`. Concurrent calls delete different ones.
   * @returns how many
   */
  async deleteOfThreads(threadIds: readonly string[], limit: number): Promise<number> {
    return (await DELETE_TRACES_OF_THREADS.run(this.database, { threadIds, limit })).length;
  }
}

/** The row of a trace for the statement that ends its run. */
export function traceRow(organizationId: string, { usage, ...trace }: RecordedTrace): TableRow {
  const { inputTokens, outputTokens, credits } = usage;
  const unpublished = { publishedAt: null, withheld: false };
  return tableRow(traces, { ...trace, organizationId, inputTokens, outputTokens, credits, ...unpublished });
}

export function suggestionUsageRow({ at: startedAt, ...usage }: SuggestionUsage): TableRow {
  return tableRow(suggestionUsage, { ...usage, startedAt });
}
