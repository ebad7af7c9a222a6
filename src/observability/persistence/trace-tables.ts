import type { RunUsage } from '../../conversations/index.js';
import { type ColumnsOf, queryBuilder, toDate } from '../../platform/database/index.js';
import type { TraceSummary } from '../domain/trace.js';
import { TRACE_ERROR, type traces } from './traces.schema.js';

/** For what no entity fits: the beginnings of texts that may be long, sums, and removals in batches. */
export const tables = queryBuilder<{
  traces: ColumnsOf<typeof traces>;
  /** Tables of other contexts: traces of deleted threads and agents are left out. */
  agents: { id: string; name: string };
  threads: { id: string; deleted_at: string | null };
}>();

/** Large threads are deleted before their rows are removed; there are few of those at any time. */
export const notOfDeletedThread = (traces: string): string =>
  `${traces}.thread_id not in (select id from threads where deleted_at is not null)`;

export function usageOf(inputTokens: number | null, outputTokens: number | null, credits: number): RunUsage {
  const totalTokens = inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens;
  return { inputTokens, outputTokens, totalTokens, credits };
}

type Columns = ColumnsOf<typeof traces>;

/** What a summary is made of, whether `input` and `output` are whole or their beginnings; large integers as floats. */
interface SummaryRow extends Pick<
  Columns,
  | 'id'
  | 'agent_id'
  | 'thread_id'
  | 'message_id'
  | 'channel'
  | 'provider'
  | 'model'
  | 'status'
  | 'started_at'
  | 'credits'
  | 'error'
> {
  readonly latency_ms: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly input: string;
  readonly output: string;
}

export function toSummary(row: SummaryRow): TraceSummary {
  return {
    id: row.id,
    agentId: row.agent_id,
    threadId: row.thread_id,
    messageId: row.message_id,
    channel: row.channel,
    provider: row.provider,
    model: row.model,
    status: row.status,
    startedAt: toDate(row.started_at),
    latencyMs: row.latency_ms,
    usage: usageOf(row.input_tokens, row.output_tokens, row.credits),
    input: row.input,
    output: row.output,
    error: TRACE_ERROR.readNullable(row.error, row.id),
  };
}
