import type { TestService } from './harness.js';
import { readPrometheusText } from './prometheus-text.js';

/** How many runs the process has counted as ended, by status; those with 0 are left out. */
export type CountedRuns = Readonly<Record<string, number>>;

async function countedBy(service: TestService): Promise<CountedRuns> {
  const { text } = await service.http('GET', '/metrics');
  const counts: Record<string, number> = {};
  for (const { labels, value } of readPrometheusText(text).get('agent_service_runs_total')?.samples ?? []) {
    const { status = '' } = labels;
    counts[status] = (counts[status] ?? 0) + value;
  }
  return counts;
}

/** What is returned tells what each process has counted since. */
export async function countingRuns(...services: readonly TestService[]): Promise<() => Promise<CountedRuns[]>> {
  const before = await Promise.all(services.map(countedBy));
  return async () => {
    const after = await Promise.all(services.map(countedBy));
    return after.map((counts, index) =>
      Object.fromEntries(
        Object.entries(counts)
          .map(([status, count]) => [status, count - (before[index]?.[status] ?? 0)] as const)
          .filter(([, count]) => count > 0),
      ),
    );
  };
}
