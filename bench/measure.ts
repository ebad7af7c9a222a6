import type { Connections } from './databases.ts';
import { percentile, round, type Spread, spreadOf, sum } from './figures.ts';
import type { LoadClient } from './load-client.ts';
import type { SliceResult } from './load-orders.ts';
import { type Cell, MAX_RUNS_A_ROUND, type Pass } from './plan.ts';
import type { PostgresProcesses } from './postgres-processes.ts';
import { processorMs, type Sample, residentMiB, watch } from './samples.ts';
import type { TargetKind } from './targets.ts';
import { INSTANT } from './script.ts';

export interface CellFigures {
  readonly target: TargetKind;
  readonly runs: number;
  readonly runsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly firstTokenP50Ms: number;
  readonly firstTokenP99Ms: number;
  /** Processor time of the target's process for each run, which hardly depends on other load. */
  readonly processorMsPerRun: number;
  /** Processor time of all processes of the PostgreSQL server; null if there is none, or it is on another machine. */
  readonly databaseMsPerRun: number | null;
}

export interface CellResult {
  readonly form: Cell['form'];
  readonly concurrency: number;
  /** All runs of a round. */
  readonly startedTogether: boolean;
  readonly targets: readonly CellFigures[];
  /** The service's runs per second divided by another target's: median, lowest and highest round. */
  readonly ratios: Readonly<Partial<Record<TargetKind, Spread>>>;
}

/** A target of a pass: its name in the load process, and its processes. */
export interface Place {
  readonly name: string;
  readonly pid: number;
  /** Undefined if it has no separate database, or one on another machine. */
  readonly database: PostgresProcesses | undefined;
}
export type Places = Readonly<Partial<Record<TargetKind, Place>>>;

/** One round on one target. */
export interface Round extends SliceResult {
  readonly processorMs: number;
  readonly databaseMs: number | null;
}

/** Measures the processor time of the target during a slice of the load. */
export async function measureRound(
  { pid, database }: Pick<Place, 'pid' | 'database'>,
  slice: () => Promise<SliceResult>,
): Promise<Round> {
  const before = processorMs(pid);
  const databaseBefore = database?.processorMs() ?? 0;
  const result = await slice();
  // A reading has an error of two ticks, which is more than an idle server uses.
  const databaseMs = database ? Math.max(0, database.processorMs() - databaseBefore) : null;
  return { ...result, processorMs: processorMs(pid) - before, databaseMs };
}

/** Processor time of a run over all rounds; null if a round has none. */
export function databaseMsPerRun(rounds: readonly Round[]): number | null {
  const known = rounds.flatMap(({ databaseMs }) => databaseMs ?? []);
  const runs = sum(rounds.map(({ latencies }) => latencies.length));
  return known.length === rounds.length ? round(sum(known) / runs, 2) : null;
}

export async function warmUp(load: LoadClient, places: Places, seconds: number): Promise<void> {
  for (const { name: target } of Object.values(places)) {
    for (const form of ['waiting', 'streamed'] as const) {
      await load.slice({ target, form, script: INSTANT, concurrency: 16, seconds, maxRuns: MAX_RUNS_A_ROUND });
    }
  }
}

/** The targets alternate round by round, so that other load on the machine affects all of them. */
export async function measureCell(load: LoadClient, places: Places, cell: Cell): Promise<CellResult> {
  const rounds = new Map<TargetKind, Round[]>();
  for (let number = 0; number < cell.rounds; number += 1) {
    for (const [kind, place] of Object.entries(places) as [TargetKind, Place][]) {
      const maxRuns = cell.runs ?? (kind === 'service' ? MAX_RUNS_A_ROUND : Infinity);
      const round = await measureRound(place, () => load.slice({ target: place.name, ...cell, maxRuns }));
      rounds.set(kind, [...(rounds.get(kind) ?? []), round]);
    }
  }
  const { form, concurrency, runs } = cell;
  const targets = [...rounds].map(([kind, slices]) => figuresOf(kind, slices));
  return { form, concurrency, startedTogether: runs === concurrency, targets, ratios: ratiosOf(rounds) };
}

function rateOf({ latencies, seconds }: SliceResult): number {
  return latencies.length / seconds;
}

function figuresOf(target: TargetKind, slices: readonly Round[]): CellFigures {
  const latencies = slices.flatMap((slice) => slice.latencies);
  const firstTokens = slices.flatMap((slice) => slice.firstTokens);
  return {
    target,
    runs: latencies.length,
    runsPerSecond: round(latencies.length / sum(slices.map(({ seconds }) => seconds)), 1),
    p50Ms: round(percentile(latencies, 0.5), 2),
    p99Ms: round(percentile(latencies, 0.99), 2),
    firstTokenP50Ms: round(percentile(firstTokens, 0.5), 2),
    firstTokenP99Ms: round(percentile(firstTokens, 0.99), 2),
    processorMsPerRun: round(sum(slices.map(({ processorMs }) => processorMs)) / latencies.length, 2),
    databaseMsPerRun: databaseMsPerRun(slices),
  };
}

function ratiosOf(rounds: ReadonlyMap<TargetKind, readonly SliceResult[]>): CellResult['ratios'] {
  const service = (rounds.get('service') ?? []).map(rateOf);
  const others = [...rounds].filter(([kind]) => kind !== 'service');
  return Object.fromEntries(
    others.map(([kind, slices]) => {
      const ratios = slices.map((slice, index) => (service[index] ?? Number.NaN) / rateOf(slice));
      return [kind, spreadOf(ratios)];
    }),
  );
}

export interface HoldFigures {
  readonly streams: number;
  readonly peakOpen: number;
  readonly lost: number;
  readonly whyLost: readonly string[];
  readonly residentBeforeMiB: number;
  readonly peakResidentMiB: number;
  /** Seconds from the start of the first stream until all were open, and how long all stayed open. */
  readonly openedInSeconds: number;
  readonly allOpenSeconds: number;
  /** The most connections of each state to the database while all streams were open. */
  readonly connections: (Connections & { readonly looks: number; readonly looksWithActive: number }) | null;
}

const OPEN_AT_ONCE = 64;

export async function measureHold(
  load: LoadClient,
  on: { readonly target: string; readonly pid: number; readonly connections?: () => Promise<Connections> },
  { streams, script }: Pass['holds'][number],
): Promise<HoldFigures> {
  const residentBefore = residentMiB(on.pid);
  const began = Date.now();
  const watching = watch(on.pid, on.connections);
  const held = await load.hold({ target: on.target, script, streams, openAtOnce: OPEN_AT_ONCE });
  const samples = await watching.stop();
  const whileAllOpen =
    held.allOpenAt === 0 ? [] : samples.filter(({ at }) => at > held.allOpenAt && at < held.firstEndAt);
  return {
    streams,
    peakOpen: held.peakOpen,
    lost: held.lost.length,
    whyLost: [...new Set(held.lost)].slice(0, 5),
    residentBeforeMiB: round(residentBefore, 0),
    peakResidentMiB: round(Math.max(...samples.map((sample) => sample.residentMiB)), 0),
    openedInSeconds: held.allOpenAt === 0 ? Number.NaN : round((held.allOpenAt - began) / 1000, 1),
    allOpenSeconds: held.allOpenAt === 0 ? 0 : round(Math.max(0, held.firstEndAt - held.allOpenAt) / 1000, 1),
    connections: on.connections ? mostConnections(whileAllOpen) : null,
  };
}

function mostConnections(samples: readonly Sample[]): HoldFigures['connections'] {
  const seen = samples.flatMap(({ connections }) => connections ?? []);
  const most = (of: (seen: Connections) => number): number => Math.max(0, ...seen.map(of));
  return {
    total: most(({ total }) => total),
    active: most(({ active }) => active),
    idleInTransaction: most(({ idleInTransaction }) => idleInTransaction),
    looks: seen.length,
    looksWithActive: seen.filter(({ active, idleInTransaction }) => active + idleInTransaction > 0).length,
  };
}
