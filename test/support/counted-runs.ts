import type { TestService } from './harness.js';
import { readPrometheusText } from './prometheus-text.js';

/** The number of ended runs by status, without zeros. */
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

/** @returns a function that reads what each process has counted since this call */
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
