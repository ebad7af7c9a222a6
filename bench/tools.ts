import { median, percentile, round, sum } from './figures.ts';
import { databaseMsPerRun, measureRound, type Place } from './measure.ts';
import type { LoadClient } from './load-client.ts';
import type { ToolRuns } from './plan.ts';
import { INSTANT } from './script.ts';
import type { Lane, LaneName, ToolGrounds } from './tools-grounds.ts';

export interface LaneFigures {
  readonly lane: LaneName;
  readonly runs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Median over the rounds of the difference to the lane to compare with, run by run. */
  readonly over: { readonly lane: LaneName; readonly p50Ms: number } | null;
}

export interface LoadedLane {
  readonly lane: LaneName;
  readonly runsPerSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly processorMsPerRun: number;
  readonly databaseMsPerRun: number | null;
}

export interface ToolRunFigures {
  readonly integrations: number;
  readonly pooled: number;
  readonly cold: readonly LaneFigures[];
  readonly hot: readonly LaneFigures[];
  readonly loaded: readonly LoadedLane[];
  readonly toolServer: { readonly calls: number; readonly connections: number };
}

/** What the difference between two lanes measures. */
const HELD_AGAINST: Readonly<Partial<Record<LaneName, LaneName>>> = {
  'of the caller': 'without',
  offered: 'without',
  'no such tool': 'without',
  json: 'no such tool',
  sse: 'no such tool',
  twenty: 'without',
  many: 'without',
  find_tools: 'many, no such tool',
};

/** Measures on a new process, which has not used any of the agents. */
export async function measureToolRuns(
  load: LoadClient,
  { cold, hot, integrations, pooled }: ToolGrounds,
  on: { readonly origin: string; readonly place: Place; readonly toolOrigin: string },
  plan: ToolRuns,
  writeLine: (line: string) => void,
): Promise<ToolRunFigures> {
  const prefix = on.place.name;
  const open = async (lane: Lane, kind: string): Promise<Opened> => {
    const target = `${prefix}/${kind}/${lane.name}`;
    await load.open(target, { ...lane.target, origin: on.origin, pid: on.place.pid });
    return { lane: lane.name, target, script: { ...INSTANT, ...(lane.tool !== undefined && { tool: lane.tool }) } };
  };
  const opened = { cold: [] as Opened[], hot: [] as Opened[] };
  for (const lane of cold) opened.cold.push(await open(lane, 'cold'));
  for (const lane of hot) opened.hot.push(await open(lane, 'hot'));
  writeLine('warming up');
  // On agents of no other kind of run: the first runs need agents that the process has not used.
  const warmUp = opened.hot.filter(({ lane }) => lane === 'sse');
  await load.alternate({ lanes: warmUp, rounds: 2 * plan.warmUpRounds });
  writeLine('agents that the process has not used');
  const coldFigures = figuresOf(opened.cold, await load.alternate({ lanes: opened.cold, rounds: plan.coldRuns }));
  await load.alternate({ lanes: opened.hot, rounds: plan.warmUpRounds });
  writeLine(`${opened.hot.length} kinds of runs in turn, one at a time`);
  const before = await received(on.toolOrigin);
  const hotFigures = figuresOf(opened.hot, await load.alternate({ lanes: opened.hot, rounds: plan.rounds }));
  const after = await received(on.toolOrigin);
  if (after.calls - before.calls !== 2 * plan.rounds)
    throw new Error('The tool server was not called once in each run that calls it');
  writeLine('16 at a time');
  return {
    integrations,
    pooled,
    cold: coldFigures,
    hot: hotFigures,
    loaded: await measureLoaded(load, opened.hot, on.place, plan),
    toolServer: { calls: after.calls - before.calls, connections: after.connections - before.connections },
  };
}

interface Opened {
  readonly lane: LaneName;
  readonly target: string;
  readonly script: { readonly writes: number; readonly everyMs: number; readonly tool?: string };
}

async function received(origin: string): Promise<{ readonly calls: number; readonly connections: number }> {
  return (await (await fetch(origin)).json()) as { calls: number; connections: number };
}

function figuresOf(lanes: readonly Opened[], latencies: readonly (readonly number[])[]): LaneFigures[] {
  const of = (lane: LaneName): readonly number[] => latencies[lanes.findIndex((opened) => opened.lane === lane)] ?? [];
  return lanes.map(({ lane }) => {
    const mine = of(lane);
    const other = HELD_AGAINST[lane];
    const theirs = other === undefined ? [] : of(other);
    const differences = mine.map((ms, index) => ms - (theirs[index] ?? Number.NaN));
    return {
      lane,
      runs: mine.length,
      p50Ms: round(median(mine), 2),
      p95Ms: round(percentile(mine, 0.95), 2),
      over: other === undefined ? null : { lane: other, p50Ms: round(median(differences), 2) },
    };
  });
}

async function measureLoaded(
  load: LoadClient,
  lanes: readonly Opened[],
  place: Place,
  plan: ToolRuns,
): Promise<LoadedLane[]> {
  const measured = lanes
    .filter(({ lane }) => ['without', 'of the caller', 'no such tool', 'json', 'sse'].includes(lane))
    .map((opened) => ({ opened, rounds: [] as Awaited<ReturnType<typeof measureRound>>[] }));
  const { concurrency, seconds } = plan.loaded;
  for (let number = 0; number < plan.loaded.rounds; number += 1) {
    for (const { opened, rounds } of measured) {
      const slice = {
        target: opened.target,
        script: opened.script,
        form: 'waiting',
        concurrency,
        seconds,
        maxRuns: Infinity,
      } as const;
      rounds.push(await measureRound(place, () => load.slice(slice)));
    }
  }
  return measured.map(({ opened, rounds }) => {
    const latencies = rounds.flatMap((round) => round.latencies);
    return {
      lane: opened.lane,
      runsPerSecond: round(latencies.length / sum(rounds.map(({ seconds }) => seconds)), 1),
      p50Ms: round(median(latencies), 1),
      p95Ms: round(percentile(latencies, 0.95), 1),
      processorMsPerRun: round(sum(rounds.map(({ processorMs }) => processorMs)) / latencies.length, 2),
      databaseMsPerRun: databaseMsPerRun(rounds),
    };
  });
}
