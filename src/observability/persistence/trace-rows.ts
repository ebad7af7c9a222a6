import type { RunUsage } from '../../conversations/index.js';
import { toDate } from '../../platform/database/index.js';
import type { Trace, TraceSummary } from '../domain/trace.js';
import { STEPS, TRACE_ERROR, TRACE_USER_CONTEXT } from './traces.schema.js';

/** A row of `SUMMARY_COLUMNS` with `input` and `output`, whole or cut. */
export interface SummaryRow extends Omit<TraceSummary, 'startedAt' | 'usage' | 'error'> {
  /** Text of a `timestamptz`. */
  readonly startedAt: string;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly credits: number;
  readonly error: unknown;
}

/** A row of `TRACE_COLUMNS`. */
export interface TraceRow extends SummaryRow, Pick<Trace, 'timeToFirstTokenMs'> {
  readonly steps: unknown;
  readonly userContext: unknown;
}

export function toSummary(row: SummaryRow): TraceSummary {
  return {
    id: row.id,
    agentId: row.agentId,
    threadId: row.threadId,
    messageId: row.messageId,
    channel: row.channel,
    provider: row.provider,
    model: row.model,
    status: row.status,
    startedAt: toDate(row.startedAt),
    latencyMs: row.latencyMs,
    usage: usageOf(row),
    input: row.input,
    output: row.output,
    error: TRACE_ERROR.readNullable(row.error, row.id),
  };
}

/** @throws UnreadableJson */
export function toTrace(row: TraceRow): Trace {
  return {
    ...toSummary(row),
    timeToFirstTokenMs: row.timeToFirstTokenMs,
    steps: STEPS.read(row.steps, row.id),
    userContext: TRACE_USER_CONTEXT.read(row.userContext),
  };
}

function usageOf({ inputTokens, outputTokens, credits }: SummaryRow): RunUsage {
  const totalTokens = inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens;
  return { inputTokens, outputTokens, totalTokens, credits };
}
