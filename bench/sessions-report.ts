import { comparisonTable } from './lanes.ts';
import type { SessionRequestName, SessionResult } from './sessions.ts';
import { table } from './table.ts';

const REQUESTS: Readonly<Record<SessionRequestName, string>> = {
  thread: 'opening a thread',
  mint: 'minting a session, with its thread',
  renewal: 'renewing a pass',
};

export function sessionsText({ lanes, requests }: SessionResult): string {
  const runs = comparisonTable({ key: 'with an API key', pass: 'with a session pass' }, lanes);
  const rows = requests.map(({ name, count, p50Ms, p95Ms }) => [
    REQUESTS[name],
    count,
    p50Ms.toFixed(2),
    p95Ms.toFixed(2),
  ]);
  return [runs, table(['Request, one at a time', 'Requests', 'p50 ms', 'p95 ms'], rows)].join('\n\n');
}
