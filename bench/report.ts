import { cpus, loadavg, totalmem } from 'node:os';
import type { Spread } from './figures.ts';
import type { GrowthFigures } from './growth.ts';
import { growthText } from './growth-report.ts';
import type { HooksResult } from './hooks.ts';
import { hooksText } from './hooks-report.ts';
import { knowledgeText } from './knowledge-report.ts';
import type { KnowledgeResult } from './knowledge.ts';
import { memoryText } from './memory-report.ts';
import type { MemoryResult } from './memory.ts';
import { sessionsText } from './sessions-report.ts';
import type { SessionResult } from './sessions.ts';
import { type ClaudeAgentFigures, claudeAgentText } from './claude-agent.ts';
import { type BackgroundFigures, backgroundText } from './background.ts';
import { type KeptFigures, keptMemoryText } from './kept-memory.ts';
import { type StartFigures, startsText } from './starts.ts';
import { tracesText } from './traces-report.ts';
import type { TracesResult } from './traces.ts';
import type { WebhooksResult } from './webhooks.ts';
import { webhooksText } from './webhooks-report.ts';
import { type SearchResult, searchText } from './knowledge-search-report.ts';
import { type QualityResult, qualityText } from './knowledge-quality/run.ts';
import { type UploadFigures, uploadsText } from './knowledge-uploads.ts';
import type { CellResult, HoldFigures } from './measure.ts';
import type { PassResult } from './passes.ts';
import type { RejoinResult } from './rejoin.ts';
import { rejoinText } from './rejoin-report.ts';
import { toolsText } from './tools-report.ts';
import type { ToolsResult } from './tool-servers.ts';
import { table } from './table.ts';
import type { TargetKind } from './targets.ts';
import { type UnusedFigures, unusedText } from './unused.ts';

export interface Report {
  readonly startedAt: string;
  readonly seconds: number;
  readonly machine: { readonly cores: number; readonly processor: string; readonly memoryGiB: number };
  /** Load average of the last minute before the start: other load on the machine. */
  readonly loadBefore: number;
  readonly node: string;
  readonly postgres: string;
  readonly quick: boolean;
  readonly passes: readonly PassResult[];
  readonly growth: readonly GrowthFigures[] | null;
  readonly rejoin: RejoinResult | null;
  readonly tools: readonly ToolsResult[] | null;
  readonly hooks: readonly HooksResult[] | null;
  readonly memory: readonly MemoryResult[] | null;
  readonly sessions: readonly SessionResult[] | null;
  readonly knowledge: readonly KnowledgeResult[] | null;
  readonly search: SearchResult | null;
  readonly quality: QualityResult | null;
  readonly traces: TracesResult | null;
  readonly webhooks: readonly WebhooksResult[] | null;
  readonly uploads: readonly UploadFigures[] | null;
  readonly starts: readonly StartFigures[] | null;
  readonly keptMemory: readonly KeptFigures[] | null;
  readonly background: BackgroundFigures | null;
  readonly unused: UnusedFigures | null;
  readonly claudeAgent: ClaudeAgentFigures | null;
}

export function machine(): Report['machine'] {
  const processors = cpus();
  return {
    cores: processors.length,
    processor: processors[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
  };
}

/** Load average of the last minute. */
export function load(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}

function spread({ median, lowest, highest }: Spread): string {
  return lowest === highest
    ? median.toFixed(2)
    : `${median.toFixed(2)} (${lowest.toFixed(2)} to ${highest.toFixed(2)})`;
}

function ratio({ ratios }: CellResult, to: TargetKind): string {
  const found = ratios[to];
  return found ? spread(found) : '-';
}

function throughputTable(cells: readonly CellResult[]): string {
  return table(
    ['Runs', 'At a time', 'Server', 'Runs/s', 'p50 ms', 'p99 ms', 'CPU ms a run', "PostgreSQL's", 'Service / this'],
    cells.flatMap((cell) =>
      cell.targets.map((of) => [
        cell.form,
        cell.concurrency,
        of.target,
        of.runsPerSecond.toFixed(0),
        of.p50Ms.toFixed(1),
        of.p99Ms.toFixed(1),
        of.processorMsPerRun.toFixed(2),
        of.databaseMsPerRun?.toFixed(2) ?? '-',
        of.target === 'service' ? '' : ratio(cell, of.target),
      ]),
    ),
  );
}

function firstTokenTable(cells: readonly CellResult[]): string {
  return table(
    ['First token, at a time', 'Server', 'p50 ms', 'p99 ms', 'Added by the service p50 ms', 'p99 ms'],
    cells.flatMap((cell) => {
      const service = cell.targets.find(({ target }) => target === 'service');
      return cell.targets.map((of) => [
        cell.startedTogether ? `${cell.concurrency} started together` : cell.concurrency,
        of.target,
        of.firstTokenP50Ms.toFixed(2),
        of.firstTokenP99Ms.toFixed(2),
        service && of !== service ? (service.firstTokenP50Ms - of.firstTokenP50Ms).toFixed(2) : '',
        service && of !== service ? (service.firstTokenP99Ms - of.firstTokenP99Ms).toFixed(2) : '',
      ]);
    }),
  );
}

function runsText(pass: PassResult): string {
  return [
    throughputTable(pass.throughput),
    firstTokenTable(pass.firstToken),
    `The service's process held ${pass.residentMiB?.median ?? '-'} MiB at the median and ${pass.residentMiB?.peak ?? '-'} MiB at the peak while these runs were taken.`,
  ].join('\n\n');
}

function holdsText(holds: readonly HoldFigures[]): string {
  const figures = table(
    [
      'Streams',
      'Open at once',
      'Lost',
      'Opened in s',
      'All open for s',
      'Memory before MiB',
      'Peak MiB',
      'Connections',
      'In use',
    ],
    holds.map((hold) => [
      hold.streams,
      hold.peakOpen,
      hold.lost,
      hold.openedInSeconds,
      hold.allOpenSeconds,
      hold.residentBeforeMiB,
      hold.peakResidentMiB,
      hold.connections ? `${hold.connections.total} of a pool of 10` : 'inside',
      hold.connections ? `${hold.connections.looksWithActive} of ${hold.connections.looks} looks` : '-',
    ]),
  );
  const lost = holds.flatMap((hold) => hold.whyLost.map((why) => `Lost with ${hold.streams} streams open: ${why}`));
  return [figures, ...lost].join('\n\n');
}

/** A part of the report, with a place of the same name in bench/figures.md. */
export interface Section {
  readonly name: string;
  readonly text: string;
}

const TITLES = { postgres: 'PostgreSQL and Redis', embedded: 'Embedded default' } as const;

/** The results, each part with machine and time, so that it can be repeated separately. */
export function sectionsOf({
  machine: on,
  passes,
  growth,
  rejoin,
  tools,
  hooks,
  memory,
  sessions,
  knowledge,
  search,
  quality,
  uploads,
  traces,
  webhooks,
  starts,
  keptMemory,
  background,
  unused,
  claudeAgent,
  ...run
}: Report): Section[] {
  const head = `${run.startedAt.slice(0, 16).replace('T', ' ')} UTC${run.quick ? ' (`--quick`)' : ''}, ${on.cores} cores (${on.processor}), ${on.memoryGiB} GiB, Node ${run.node.slice(1)}, PostgreSQL ${run.postgres}, ${run.seconds} s in all, load average before ${run.loadBefore}.`;
  const section = (name: string, title: string, text: string): Section => ({
    name,
    text: `### ${title}\n\n${head}\n\n${text}`,
  });
  const runs = passes.filter(({ throughput }) => throughput.length > 0);
  const holding = passes.filter(({ holds }) => holds.length > 0);
  return [
    ...runs.map((pass) => section(`throughput, ${pass.mode}`, `Runs: ${TITLES[pass.mode]}`, runsText(pass))),
    ...holding.map(({ mode, holds }) => section(`holds, ${mode}`, `Open streams: ${TITLES[mode]}`, holdsText(holds))),
    ...(growth ? [section('growth', 'Growth of a run with its thread', growthText(growth, spread))] : []),
    ...(rejoin ? [section('rejoin', 'Rejoining a run', rejoinText(rejoin, spread))] : []),
    ...(tools ?? []).map((result) =>
      section(`tools, ${result.mode}`, `Runs with tools: ${TITLES[result.mode]}`, toolsText(result)),
    ),
    ...(hooks ?? []).map((result) =>
      section(`hooks, ${result.mode}`, `Runs with hooks: ${TITLES[result.mode]}`, hooksText(result)),
    ),
    ...(memory ?? []).map((result) =>
      section(`memory, ${result.mode}`, `Runs with memory: ${TITLES[result.mode]}`, memoryText(result)),
    ),
    ...(sessions ?? []).map((result) =>
      section(`sessions, ${result.mode}`, `Runs with session passes: ${TITLES[result.mode]}`, sessionsText(result)),
    ),
    ...(knowledge ?? []).map((result) =>
      section(`knowledge, ${result.mode}`, `Crawls: ${TITLES[result.mode]}`, knowledgeText(result)),
    ),
    ...(search ? [section('search', 'Searches of knowledge', searchText(search))] : []),
    ...(quality ? [section('quality', 'Questions over real documents', qualityText(quality))] : []),
    ...(traces ? [section('traces', 'Traces', tracesText(traces))] : []),
    ...(webhooks ? [section('webhooks', 'Deliveries to webhooks', webhooksText(webhooks))] : []),
    ...(uploads ? [section('uploads', 'Uploads', uploadsText(uploads))] : []),
    ...(keptMemory
      ? [section('kept-memory', `Memory after many runs: ${TITLES.postgres}`, keptMemoryText(keptMemory))]
      : []),
    ...(background ? [section('background', `Background runs: ${TITLES.postgres}`, backgroundText(background))] : []),
    ...(unused ? [section('unused', `What a run does not use: ${TITLES.postgres}`, unusedText(unused, spread))] : []),
    ...(starts ? [section('starts', 'Starts and commands', startsText(starts))] : []),
    ...(claudeAgent ? [section('claude-agent', 'Agents on the Claude Agent SDK', claudeAgentText(claudeAgent))] : []),
  ];
}
