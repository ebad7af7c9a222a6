import { median, percentile, round } from './figures.ts';
import type { LoadClient } from './load-client.ts';
import {
  type CellResult,
  type HoldFigures,
  measureCell,
  measureHold,
  type Place,
  type Places,
  warmUp,
} from './measure.ts';
import { maxRuns, type Pass } from './plan.ts';
import { provision } from './provision.ts';
import { watch } from './samples.ts';
import type { PostgresProcesses } from './postgres-processes.ts';
import type { ClusteredEnvironment, RunningService, Stage } from './stage.ts';
import type { Target, TargetKind } from './targets.ts';

export interface PassResult {
  readonly mode: 'postgres' | 'embedded';
  readonly throughput: readonly CellResult[];
  readonly firstToken: readonly CellResult[];
  /** Resident memory of the service during the runs above; null if there were none. */
  readonly residentMiB: { readonly median: number; readonly peak: number } | null;
  /** Measured in a new process, so that the figure includes only the streams. */
  readonly holds: readonly HoldFigures[];
}

/** Shared by all passes: the load process and the targets to compare with. */
export interface Floor {
  readonly load: LoadClient;
  readonly direct: Target;
  readonly bare: Target;
  /** The processes of the PostgreSQL server, if it is on this machine. */
  readonly postgres: PostgresProcesses | undefined;
}

export type WriteLine = (line: string) => void;

/** Starts the service twice on the same data: for the runs, and for the streams. */
interface Mode {
  readonly name: PassResult['mode'];
  start(): Promise<RunningService>;
}

export function clustered(stage: Stage, environment: ClusteredEnvironment): Mode {
  return { name: 'postgres', start: () => stage.startClustered(environment) };
}

export function embedded(stage: Stage): Mode {
  const env = stage.embeddedEnvironment();
  return { name: 'embedded', start: () => stage.startEmbedded(env) };
}

export async function runPass(floor: Floor, mode: Mode, pass: Pass, writeLine: WriteLine): Promise<PassResult> {
  writeLine(`${mode.name}: starting the service`);
  const first = await mode.start();
  const began = Date.now();
  const service = await provision(
    { origin: first.service.origin, pid: first.service.pid, env: first.env },
    { threads: pass.threads, maxRuns: maxRuns(pass) },
  );
  writeLine(`${mode.name}: ${pass.threads} threads made in ${round((Date.now() - began) / 1000, 1)} s`);
  const runs = pass.throughput.length > 0 ? await measureAllRuns(floor, service, mode, pass, writeLine) : NO_RUNS;
  await first.stop();
  const holds = pass.holds.length > 0 ? await measureHolds(floor.load, mode, pass, service, writeLine) : [];
  return { mode: mode.name, ...runs, holds };
}

const NO_RUNS = { throughput: [], firstToken: [], residentMiB: null };

async function measureAllRuns(
  floor: Floor,
  service: Target,
  mode: Mode,
  pass: Pass,
  writeLine: WriteLine,
): Promise<Omit<PassResult, 'mode' | 'holds'>> {
  const places = await openAll(floor, service, mode, pass.targets);
  const watching = watch(service.pid);
  const runs = await measureRuns(floor.load, places, pass, (line) => writeLine(`${mode.name}: ${line}`));
  const resident = (await watching.stop()).map(({ residentMiB }) => residentMiB);
  return { ...runs, residentMiB: { median: round(median(resident), 0), peak: round(percentile(resident, 1), 0) } };
}

async function openAll(
  { load, direct, bare, postgres }: Floor,
  service: Target,
  mode: Mode,
  kinds: readonly TargetKind[],
): Promise<Places> {
  const targets: Readonly<Record<TargetKind, Target>> = { direct, bare, service };
  const withDatabase: readonly TargetKind[] = mode.name === 'embedded' ? ['bare'] : ['bare', 'service'];
  const places: Partial<Record<TargetKind, Place>> = {};
  for (const kind of kinds) {
    const name = `${mode.name}/${kind}`;
    places[kind] = { name, pid: targets[kind].pid, database: withDatabase.includes(kind) ? postgres : undefined };
    await load.open(name, targets[kind]);
  }
  return places;
}

async function measureRuns(
  load: LoadClient,
  places: Places,
  pass: Pass,
  writeLine: WriteLine,
): Promise<Pick<PassResult, 'throughput' | 'firstToken'>> {
  writeLine('warming up');
  await warmUp(load, places, pass.warmUpSeconds);
  const throughput: CellResult[] = [];
  for (const cell of pass.throughput) {
    writeLine(`${cell.form}, ${cell.concurrency} at a time`);
    throughput.push(await measureCell(load, places, cell));
  }
  const firstToken: CellResult[] = [];
  for (const cell of pass.firstToken) {
    writeLine(`first token, ${cell.concurrency} at a time`);
    firstToken.push(await measureCell(load, places, cell));
  }
  return { throughput, firstToken };
}

async function measureHolds(
  load: LoadClient,
  mode: Mode,
  pass: Pass,
  before: Target,
  writeLine: WriteLine,
): Promise<HoldFigures[]> {
  const running = await mode.start();
  const { service, connections } = running;
  const name = `${mode.name}/holds`;
  await load.open(name, { ...before, origin: service.origin, pid: service.pid });
  const holds: HoldFigures[] = [];
  for (const hold of pass.holds) {
    writeLine(`${mode.name}: ${hold.streams} streams open`);
    holds.push(await measureHold(load, { target: name, pid: service.pid, connections }, hold));
  }
  await running.stop();
  return holds;
}
