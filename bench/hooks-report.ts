import type { HookLaneName, HooksResult } from './hooks.ts';
import { comparisonTable } from './lanes.ts';

const LANES: Readonly<Record<HookLaneName, string>> = {
  without: 'no hooks',
  five: 'five handlers of UserPromptSubmit',
  'call, without': 'a tool call, no hooks',
  'call, one': 'a tool call, a handler on each of four events',
  'call, five': 'a tool call, five handlers on each of four events',
};

export function hooksText({ lanes, endpoint: { calls, connections } }: HooksResult): string {
  return [comparisonTable(LANES, lanes), `The ${calls} calls of the endpoint opened ${connections} sockets.`].join(
    '\n\n',
  );
}
