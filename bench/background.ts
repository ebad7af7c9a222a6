/** Many background runs on a slow model: what accepting one costs, what an open one keeps in memory, and whether all complete. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile, round } from './figures.ts';
import type { WriteLine } from './passes.ts';
import type { BackgroundPlan } from './plan.ts';
import { createKey, inParallel, post, read } from './provision.ts';
import { userText } from './script.ts';
import type { ClusteredEnvironment, Stage } from './stage.ts';
import { table } from './table.ts';
import { memoryOf } from './tools-memory.ts';

/** Runs of one agent in a minute, below the service's limit of 600. */
const RUNS_OF_AN_AGENT = 500;
const KIB = 1024;
const LOOK_MS = 500;
const SECONDS_AT_MOST = 300;

export interface BackgroundFigures {
  readonly runs: number;
  readonly openAtOnce: number;
  readonly completed: number;
  readonly acceptedP50Ms: number;
  readonly acceptedP99Ms: number;
  readonly acceptedInSeconds: number;
  /** Of each open run, after a garbage collection. */
  readonly heapKiB: number;
  readonly residentKiB: number;
  /** Of the list of runs under way, while all are open. */
  readonly listedMs: number;
}

interface RunPage {
  readonly runs: readonly object[];
  readonly nextCursor: string | null;
}

/** @throws Error when a run does not complete */
export async function runBackground(
  stage: Stage,
  environment: ClusteredEnvironment,
  { runs, script }: BackgroundPlan,
  writeLine: WriteLine,
): Promise<BackgroundFigures> {
  const probeFile = join(stage.makeFolder(), 'memory.json');
  const probed = { ...environment, env: { ...environment.env, MEMORY_PROBE_FILE: probeFile } };
  const probe = ['--expose-gc', '--import', new URL('memory-probe.ts', import.meta.url).href];
  const service = await stage.startApi(probed, probe);
  const { origin, pid } = service;
  const key = await createKey(environment.env);
  const threads = await threadsOf(origin, key, runs);
  // The first run loads code that all others share.
  await start(origin, key, threads.pop() ?? '', script);
  await untilNoneRuns(origin, key);
  const before = await memoryOf(pid, probeFile);

  writeLine(`background: starting ${runs} runs`);
  const began = performance.now();
  const accepted = await inParallel(runs, (index) => start(origin, key, threads[index] ?? '', script));
  const acceptedInSeconds = round((performance.now() - began) / 1_000, 1);
  const open = await memoryOf(pid, probeFile);
  const listing = performance.now();
  const openAtOnce = await count(origin, key, 'running');
  const listedMs = round(performance.now() - listing, 0);
  await untilNoneRuns(origin, key);
  const completed = (await count(origin, key, 'completed')) - 1;
  await service.stop();
  if (completed !== runs) throw new Error(`${completed} of ${runs} background runs completed`);
  return {
    ...{ runs, openAtOnce, completed, acceptedInSeconds, listedMs },
    acceptedP50Ms: round(percentile(accepted, 0.5), 1),
    acceptedP99Ms: round(percentile(accepted, 0.99), 1),
    heapKiB: round((open.heapUsed - before.heapUsed) / runs / KIB, 1),
    residentKiB: round((open.rss - before.rss) / runs / KIB, 1),
  };
}

/** One thread more than runs. */
async function threadsOf(origin: string, key: string, runs: number): Promise<string[]> {
  const agents = await inParallel(Math.ceil((2 * runs) / RUNS_OF_AN_AGENT) + 1, (index) =>
    post(origin, key, '/v1/agents', { name: `Background ${index}`, provider: { type: 'anthropic' } }),
  );
  return inParallel(runs + 1, (index) =>
    post(origin, key, '/v1/threads', { assistant_id: agents[index % agents.length] }),
  );
}

/** @returns after how many milliseconds it was accepted */
async function start(origin: string, key: string, threadId: string, script: BackgroundPlan['script']): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`${origin}/v1/threads/${threadId}/runs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: { role: 'user', content: userText(script) }, background: true }),
  });
  const text = await answer.text();
  if (answer.status !== 202) throw new Error(`A background run was answered with ${answer.status}: ${text}`);
  return performance.now() - began;
}

async function count(origin: string, key: string, status: string): Promise<number> {
  let total = 0;
  let cursor: string | null = '';
  while (cursor !== null) {
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page: RunPage = await read<RunPage>(origin, key, `/v1/runs?status=${status}&limit=100${after}`);
    total += page.runs.length;
    cursor = page.nextCursor;
  }
  return total;
}

async function untilNoneRuns(origin: string, key: string): Promise<void> {
  const deadline = performance.now() + SECONDS_AT_MOST * 1_000;
  while ((await count(origin, key, 'running')) > 0) {
    if (performance.now() > deadline) throw new Error(`Runs are under way after ${SECONDS_AT_MOST} s`);
    await sleep(LOOK_MS);
  }
}

export function backgroundText(figures: BackgroundFigures): string {
  return table(
    [
      'Runs',
      'Open at once',
      'Completed',
      'Accepted in s',
      'Accepted p50 ms',
      'p99 ms',
      'Heap KiB of each',
      'Resident KiB of each',
      'Listing all ms',
    ],
    [
      [
        figures.runs,
        figures.openAtOnce,
        figures.completed,
        figures.acceptedInSeconds,
        figures.acceptedP50Ms,
        figures.acceptedP99Ms,
        figures.heapKiB,
        figures.residentKiB,
        figures.listedMs,
      ],
    ],
  );
}
