import { until } from './until.js';
import type { RunLog, RunLogEntry } from '../../src/platform/run-log/index.js';

/** Everything a reader gets, from joining to the end of the log. */
export async function collect(log: RunLog, runId: string, after = 0): Promise<RunLogEntry[]> {
  const entries: RunLogEntry[] = [];
  const batches = await log.read(runId, after, new AbortController().signal);
  if (!batches) throw new Error('There is no log of this run');
  for await (const batch of batches) entries.push(...batch);
  return entries;
}

/** Resolves once the condition holds. */
export function eventually(holds: () => Promise<boolean | undefined> | boolean): Promise<void> {
  return until(async () => (await holds()) === true, 'what Redis or a log is to hold', { everyMs: 0 });
}
