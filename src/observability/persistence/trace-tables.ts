import type { RunUsage } from '../../conversations/index.js';
import { type ColumnsOf, queryBuilder } from '../../platform/database/index.js';
import type { traces } from './traces.schema.js';

/** For what no entity fits: the beginnings of texts that may be long, sums, and removals in batches. */
export const tables = queryBuilder<{
  traces: ColumnsOf<typeof traces>;
  /** Of another context: traces are those of threads that are there. */
  threads: { id: string; deleted_at: string | null };
}>();

/** Large threads are deleted before their rows are removed; there are few of those at any time. */
export const notOfDeletedThread = (traces: string): string =>
  `${traces}.thread_id not in (select id from threads where deleted_at is not null)`;

export function usageOf(inputTokens: number | null, outputTokens: number | null, credits: number): RunUsage {
  const totalTokens = inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens;
  return { inputTokens, outputTokens, totalTokens, credits };
}
