import { table } from './table.ts';
import type { TracesResult } from './traces.ts';

export function tracesText({ stored, reads, walk, purge, publish, recording }: TracesResult): string {
  const read = table(
    [`Read of ${stored.toLocaleString('en')} traces of one agent`, 'Requests', 'p50 ms', 'p95 ms'],
    reads.map((row) => [row.read, row.requests, row.p50Ms, row.p95Ms]),
  );
  const worked = table(
    ['Publishing and pushing', 'Traces', 'Published a second', 'Pushed a second', 'CPU ms a trace', "PostgreSQL's"],
    publish.map((row) => [row.on, row.traces, row.published, row.pushed, row.processorMs, row.databaseMs ?? 'inside']),
  );
  const recorded = recording.map(({ observer, microseconds }) => `\`${observer}\` ${microseconds}`).join(', ');
  const all = recording.reduce((sum, { microseconds }) => sum + microseconds, 0);
  return [
    read,
    worked,
    `A walk of ${walk.pages} pages, ${walk.traces} traces: the API held ${walk.beforeMiB} MiB after the first page and ${walk.peakMiB} MiB at the peak. The purge removed ${purge.traces} traces, ${purge.perSecond} a second.`,
    `What is recorded of a run with three steps takes the process that ends it ${Math.round(all)} µs of CPU: ${recorded}.`,
  ].join('\n\n');
}
