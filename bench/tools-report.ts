import { table } from './table.ts';
import type { LaneFigures, ToolRunFigures } from './tools.ts';
import type { LaneName } from './tools-grounds.ts';
import type { IdleFigures } from './tools-memory.ts';
import type { ToolsResult } from './tool-servers.ts';

const LANES: Readonly<Record<LaneName, string>> = {
  without: 'an agent without integrations',
  'of the caller': 'three tools of the caller, no call',
  offered: 'an integration, no call',
  'no such tool': 'a call of no server',
  json: 'an MCP call, answered in JSON',
  sse: 'an MCP call, answered in a stream',
  twenty: '20 integrations, 40 tools, no call',
  many: '20 integrations, 400 tools, no call',
  'many, no such tool': '400 tools, a call of no server',
  find_tools: '400 tools, a call of `find_tools`',
};

export function toolsText({ runs, idle }: ToolsResult): string {
  const tables = [runsTable('Run, one at a time', runs.hot), callsLine(runs), loadedTable(runs)];
  return [...tables, runsTable('First run of an agent', runs.cold), idleText(idle)].join('\n\n');
}

function runsTable(title: string, lanes: readonly LaneFigures[]): string {
  return table(
    [title, 'Runs', 'p50 ms', 'p95 ms', 'Over', 'p50 ms'],
    lanes.map(({ lane, runs, p50Ms, p95Ms, over }) => [
      LANES[lane],
      runs,
      p50Ms.toFixed(2),
      p95Ms.toFixed(2),
      over ? LANES[over.lane] : '',
      over ? over.p50Ms.toFixed(2) : '',
    ]),
  );
}

function callsLine({ integrations, pooled, toolServer: { calls, connections } }: ToolRunFigures): string {
  return `${integrations} integrations were known and ${pooled} connections open; the ${calls} calls opened ${connections} sockets.`;
}

function loadedTable({ loaded }: ToolRunFigures): string {
  return table(
    ['Run, 16 at a time', 'Runs/s', 'p50 ms', 'p95 ms', 'CPU ms a run', "PostgreSQL's"],
    loaded.map((line) => [
      LANES[line.lane],
      line.runsPerSecond.toFixed(0),
      line.p50Ms.toFixed(1),
      line.p95Ms.toFixed(1),
      line.processorMsPerRun.toFixed(2),
      line.databaseMsPerRun?.toFixed(2) ?? '-',
    ]),
  );
}

function idleText({ connections, local }: IdleFigures): string {
  const figures = table(
    ['Idle connections', 'Open', 'Heap KiB each', 'Resident KiB each'],
    connections.map((line) => [
      line.streams ? 'each with a stream for changes' : 'without a stream',
      line.connections,
      line.heapKiB.toFixed(1),
      line.residentKiB.toFixed(1),
    ]),
  );
  const processes = local.map(({ app, residentMiB }) => `\`${app}\` ${residentMiB} MiB`);
  return [figures, `Resident memory of an idle local process: ${processes.join(', ')}.`].join('\n\n');
}
