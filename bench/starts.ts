/** Measures starts and operator commands, compared with a Node process that does nothing, and on PostgreSQL with the bare server. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { median, round } from './figures.ts';
import type { StartPlan } from './plan.ts';
import type { WriteLine } from './passes.ts';
import type { Environment, Service } from './processes.ts';
import { processorMs } from './samples.ts';
import type { ClusteredEnvironment, Stage } from './stage.ts';
import { table } from './table.ts';

const KINDS = {
  nothing: 'a Node process that does nothing',
  first: 'first start, in an empty folder',
  commandToService: '`org list` while the service runs',
  again: 'start on the same folder',
  command: '`org list` without the service',
  bare: 'the bare server, on PostgreSQL',
  server: 'API process on PostgreSQL and Redis',
} as const;
type Kind = keyof typeof KINDS;

interface Cost {
  readonly wallMs: number;
  /** Processor time of the process until it is ready or has ended. */
  readonly processorMs: number;
}

export interface StartFigures extends Cost {
  readonly kind: Kind;
  /** Processor time, as a multiple of `nothing` in the same round. */
  readonly multiple: number;
  /** Time until it is ready, as a multiple of the bare server's in the same round. */
  readonly toBare: number;
}

/** Makes a process write its processor time in milliseconds to stderr, which it does not use otherwise. */
const TELL_TIME = `import { writeSync } from 'node:fs';
process.on('exit', () => { const { user, system } = process.cpuUsage(); writeSync(2, String((user + system) / 1000)); });`;

async function program(words: readonly string[], env: Environment): Promise<Cost> {
  const began = performance.now();
  const preload = `data:text/javascript,${encodeURIComponent(TELL_TIME)}`;
  const { PATH = '', HOME = '' } = process.env;
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', preload, ...words], {
    env: { PATH, HOME, ...env },
  });
  return { wallMs: performance.now() - began, processorMs: Number(stderr) };
}

/** A process that is ready, and what its start cost. */
async function started<Process extends { readonly pid: number }>(
  start: () => Promise<Process>,
): Promise<{ readonly process: Process; readonly cost: Cost }> {
  const began = performance.now();
  const process = await start();
  return { process, cost: { wallMs: performance.now() - began, processorMs: processorMs(process.pid) } };
}

async function measureRound(stage: Stage, environment: ClusteredEnvironment): Promise<Record<Kind, Cost>> {
  const env = { DATA_DIR: stage.makeFolder() };
  const command = ['dist/cli.js', 'org', 'list'];
  const startEmbedded = (): Promise<Service> => stage.processes.startService('all', env, []);
  const nothing = await program(['-e', '0'], {});
  const first = await started(startEmbedded);
  const commandToService = await program(command, env);
  await first.process.stop();
  const again = await started(startEmbedded);
  await again.process.stop();
  const commandAlone = await program(command, env);
  const bare = await started(() => stage.startBare(0));
  const server = await started(() => stage.startApi(environment));
  await server.process.stop();
  return {
    ...{ nothing, first: first.cost, commandToService, again: again.cost, command: commandAlone },
    ...{ bare: bare.cost, server: server.cost },
  };
}

export async function runStarts(
  stage: Stage,
  environment: ClusteredEnvironment,
  { rounds }: StartPlan,
  writeLine: WriteLine,
): Promise<StartFigures[]> {
  // The first start migrates the database.
  await (await stage.startApi(environment)).stop();
  const measured: Record<Kind, Cost>[] = [];
  for (let nth = 1; nth <= rounds; nth += 1) {
    writeLine(`starts: round ${nth} of ${rounds}`);
    measured.push(await measureRound(stage, environment));
  }
  return (Object.keys(KINDS) as Kind[]).map((kind) => ({
    kind,
    wallMs: round(median(measured.map((costs) => costs[kind].wallMs)), 0),
    processorMs: round(median(measured.map((costs) => costs[kind].processorMs)), 0),
    multiple: round(median(measured.map((costs) => costs[kind].processorMs / costs.nothing.processorMs)), 1),
    toBare: round(median(measured.map((costs) => costs[kind].wallMs / costs.bare.wallMs)), 1),
  }));
}

export function startsText(figures: readonly StartFigures[]): string {
  const rows = figures.map(({ kind, wallMs, processorMs, multiple, toBare }) => [
    KINDS[kind],
    wallMs,
    processorMs,
    multiple.toFixed(1),
    toBare.toFixed(1),
  ]);
  return table(['What', 'ms (p50)', 'CPU ms (p50)', 'CPU / a process that does nothing', 'ms / the bare server'], rows);
}
