import type { HookLaneName, HooksResult } from './hooks.ts';
import { table } from './table.ts';

const LANES: Readonly<Record<HookLaneName, string>> = {
  without: 'no hooks',
  five: 'five handlers of UserPromptSubmit',
  'call, without': 'a tool call, no hooks',
  'call, one': 'a tool call, a handler on each of four events',
  'call, five': 'a tool call, five handlers on each of four events',
};

export function hooksText({ lanes, endpoint: { calls, connections } }: HooksResult): string {
  const figures = table(
    ['Run, one at a time', 'Runs', 'p50 ms', 'p95 ms', 'Added to', 'p50 ms', 'p95 ms'],
    lanes.map(({ lane, runs, p50Ms, p95Ms, added }) => [
      LANES[lane],
      runs,
      p50Ms.toFixed(2),
      p95Ms.toFixed(2),
      added ? LANES[added.lane] : '',
      added ? added.p50Ms.toFixed(2) : '',
      added ? added.p95Ms.toFixed(2) : '',
    ]),
  );
  return [figures, `The ${calls} calls of the endpoint opened ${connections} sockets.`].join('\n\n');
}
