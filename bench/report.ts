import { cpus, loadavg, totalmem } from 'node:os';
import type { CellResult, HoldFigures } from './measure.ts';
import type { PassResult } from './passes.ts';
import type { TargetKind } from './targets.ts';

export interface Report {
  readonly startedAt: string;
  readonly seconds: number;
  readonly machine: { readonly cores: number; readonly processor: string; readonly memoryGiB: number };
  /** Load average of the last minute, before anything was started: what else the machine was busy with. */
  readonly loadBefore: number;
  readonly node: string;
  readonly postgres: string;
  readonly quick: boolean;
  readonly passes: readonly PassResult[];
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

type Row = readonly (string | number)[];

/** A table in Markdown, its columns aligned. */
function table(header: Row, rows: readonly Row[]): string {
  const cells = [header, ...rows].map((row) => row.map(String));
  const widths = header.map((_, column) => Math.max(3, ...cells.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  const [top = [], ...others] = cells;
  return [line(top), rule, ...others.map(line)].join('\n');
}

function ratio({ ratios }: CellResult, to: TargetKind): string {
  const found = ratios[to];
  return found ? `${found.median.toFixed(2)} (${found.lowest.toFixed(2)} to ${found.highest.toFixed(2)})` : '-';
}

function throughputTable(cells: readonly CellResult[]): string {
  return table(
    ['Turns', 'At a time', 'Server', 'Turns/s', 'p50 ms', 'p99 ms', 'CPU ms a turn', 'Service / this'],
    cells.flatMap((cell) =>
      cell.targets.map((of) => [
        cell.form,
        cell.concurrency,
        of.target,
        of.turnsPerSecond.toFixed(0),
        of.p50Ms.toFixed(1),
        of.p99Ms.toFixed(1),
        of.processorMsPerTurn.toFixed(2),
        of.target === 'service' ? '' : ratio(cell, of.target),
      ]),
    ),
  );
}

function firstTokenTable(cells: readonly CellResult[]): string {
  return table(
    ['At a time', 'Server', 'First token p50 ms', 'p99 ms', 'Added by the service p50 ms', 'p99 ms'],
    cells.flatMap((cell) => {
      const service = cell.targets.find(({ target }) => target === 'service');
      return cell.targets.map((of) => [
        cell.concurrency,
        of.target,
        of.firstTokenP50Ms.toFixed(2),
        of.firstTokenP99Ms.toFixed(2),
        service && of !== service ? (service.firstTokenP50Ms - of.firstTokenP50Ms).toFixed(2) : '',
        service && of !== service ? (service.firstTokenP99Ms - of.firstTokenP99Ms).toFixed(2) : '',
      ]);
    }),
  );
}

function holdTable(holds: readonly HoldFigures[]): string {
  return table(
    ['Streams', 'Open at once', 'Lost', 'Opened in s', 'All open for s', 'Memory before MiB', 'Peak MiB', 'Connections', 'In use'],
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
}

const TITLES = { postgres: 'PostgreSQL and Redis', embedded: 'Embedded default' } as const;

export function printable({ machine: on, passes, ...run }: Report): string {
  const head = `${run.startedAt}, ${on.cores} cores (${on.processor}), ${on.memoryGiB} GiB, Node ${run.node}, PostgreSQL ${run.postgres}, ${run.seconds} s, load average before ${run.loadBefore}`;
  const parts = passes.flatMap((pass) => [
    `## ${TITLES[pass.mode]}`,
    throughputTable(pass.throughput),
    firstTokenTable(pass.firstToken),
    `Memory of the service's process while these turns were taken: ${pass.residentMiB.median} MiB at the median, ${pass.residentMiB.peak} MiB at the peak.`,
    holdTable(pass.holds),
    ...pass.holds.flatMap((hold) => hold.whyLost.map((why) => `Lost with ${hold.streams} streams open: ${why}`)),
  ]);
  return [head, ...parts].join('\n\n');
}
