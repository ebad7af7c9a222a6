/** What an API process keeps in memory after very many runs, in a heap of 300 MB: the memory must not grow without end. */
import { join } from 'node:path';
import { median, round } from './figures.ts';
import { memoryOf } from './tools-memory.ts';
import type { Floor, WriteLine } from './passes.ts';
import type { KeptMemoryPlan } from './plan.ts';
import { provision } from './provision.ts';
import { INSTANT } from './script.ts';
import { residentMiB } from './samples.ts';
import type { ClusteredEnvironment, Stage } from './stage.ts';
import { table } from './table.ts';

const HEAP_MB = 300;
const AT_ONCE = 16;
const STEPS = 10;
const SECONDS_AT_MOST = 600;
const MIB = 1024 * 1024;
/** Of the second half over the first: caches are full by then. */
const MOST_GROWTH = 1.15;

export interface KeptFigures {
  readonly runs: number;
  readonly residentMiB: number;
  readonly heapMiB: number;
  readonly buffersMiB: number;
}

/** @throws Error when the process ends, or when the memory of the second half of the runs is not about that of the first */
export async function runKeptMemory(
  stage: Stage,
  { load }: Floor,
  environment: ClusteredEnvironment,
  { runs, threads }: KeptMemoryPlan,
  writeLine: WriteLine,
): Promise<KeptFigures[]> {
  const probeFile = join(stage.makeFolder(), 'memory.json');
  const probed = { ...environment, env: { ...environment.env, MEMORY_PROBE_FILE: probeFile } };
  const probe = ['--expose-gc', '--import', new URL('memory-probe.ts', import.meta.url).href];
  const service = await stage.startApi(probed, [`--max-old-space-size=${HEAP_MB}`, ...probe]);
  const figures: KeptFigures[] = [];
  const look = async (made: number): Promise<void> => {
    const { heapUsed, arrayBuffers } = await memoryOf(service.pid, probeFile);
    const kept = { heapMiB: round(heapUsed / MIB, 0), buffersMiB: round(arrayBuffers / MIB, 0) };
    figures.push({ runs: made, residentMiB: round(residentMiB(service.pid), 0), ...kept });
  };
  await look(0);
  const target = await provision({ ...service, env: environment.env }, { threads, maxRuns: runs });
  await load.open('kept-memory', target);
  const maxRuns = Math.ceil(runs / STEPS);
  const slice = { target: 'kept-memory', form: 'streamed', script: INSTANT, concurrency: AT_ONCE } as const;
  for (let step = 1; step <= STEPS; step += 1) {
    writeLine(`kept memory: ${step * maxRuns} of ${runs} runs`);
    await load.slice({ ...slice, seconds: SECONDS_AT_MOST, maxRuns });
    await look(step * maxRuns);
  }
  await service.stop();
  checkFlat(figures);
  return figures;
}

function checkFlat(figures: readonly KeptFigures[]): void {
  const kept = figures.slice(STEPS / 2).map(({ heapMiB, buffersMiB }) => heapMiB + buffersMiB);
  const [first = 0] = kept;
  const later = median(kept.slice(-2));
  if (later > first * MOST_GROWTH)
    throw new Error(`The service keeps ${later} MiB, and kept ${first} after half of the runs`);
}

export function keptMemoryText(figures: readonly KeptFigures[]): string {
  const rows = figures.map(({ runs, residentMiB, heapMiB, buffersMiB }) => [runs, residentMiB, heapMiB, buffersMiB]);
  return table(['Runs', 'Resident MiB', 'Heap MiB', 'Buffers MiB'], rows);
}
