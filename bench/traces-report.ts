import { table } from './table.ts';
import type { TracesResult } from './traces.ts';

export function tracesText({ stored, reads, walk, purge, publish }: TracesResult): string {
  const read = table(
    [`Read of ${stored.toLocaleString('en')} traces of one agent`, 'Requests', 'p50 ms', 'p95 ms'],
    reads.map((row) => [row.read, row.requests, row.p50Ms, row.p95Ms]),
  );
  const worked = table(
    ['Publishing and pushing', 'Traces', 'Published a second', 'Pushed a second', 'CPU ms a trace', "PostgreSQL's"],
    publish.map((row) => [row.on, row.traces, row.published, row.pushed, row.processorMs, row.databaseMs ?? 'inside']),
  );
  return [
    read,
    worked,
    `A walk of ${walk.pages} pages, ${walk.traces} traces: the API held ${walk.beforeMiB} MiB after the first page and ${walk.peakMiB} MiB at the peak. The purge removed ${purge.traces} traces, ${purge.perSecond} a second.`,
  ].join('\n\n');
}
