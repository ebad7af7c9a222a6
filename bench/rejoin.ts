import { percentile, round, type Spread, spreadOf, sum } from './figures.ts';
import type { LoadClient } from './load-client.ts';
import type { FollowResult, Part, Recorded } from './load-orders.ts';
import { databaseMsPerRun, measureRound, type Place, type Round } from './measure.ts';
import type { Rejoin } from './plan.ts';

/** The replica that made the runs, and another one. */
export type Replica = 'its own' | 'another';

interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Reads of one part of ended runs on one replica, with a fixed concurrency. */
export interface RejoinFigures extends Percentiles {
  readonly replica: Replica;
  readonly part: Part;
  readonly concurrency: number;
  readonly reads: number;
  readonly perSecond: number;
  /** Processor time of the replica's process. */
  readonly processorMsPerRead: number;
  readonly databaseMsPerRead: number | null;
  /** The median latency divided by that of reading the run on the same replica. */
  readonly toReadingTheRun: Spread;
}

export interface RejoinResult {
  readonly runs: number;
  readonly events: number;
  /** The streams of the runs, from the request to the end. */
  readonly original: Percentiles;
  /** Reads on the other replica, from the end of the run's stream. */
  readonly atOnce: Percentiles;
  readonly reads: readonly RejoinFigures[];
  readonly followed: readonly FollowFigures[];
}

/** Active runs with a second reader. */
export interface FollowFigures {
  readonly replica: Replica;
  readonly runs: number;
  readonly concurrency: number;
  readonly events: number;
  /** Delay behind the first reader. */
  readonly delay: Percentiles;
  /** From the request to the first event. */
  readonly joined: Percentiles;
}

export type Replicas = Readonly<Record<Replica, Place>>;

const REPLICAS = ['its own', 'another'] as const;
const PARTS = ['run', 'whole', 'half'] as const;

export async function measureRejoin(
  load: LoadClient,
  replicas: Replicas,
  plan: Rejoin,
  writeLine: (line: string) => void,
): Promise<RejoinResult> {
  const target = replicas['its own'].name;
  const recording = { target, other: replicas.another.name, script: plan.script };
  writeLine('warming up');
  await load.record({ ...recording, runs: plan.warmUpRuns });
  for (const concurrency of [1, 16]) await readAll(load, replicas, { concurrency, seconds: plan.seconds, rounds: 1 });
  writeLine(`${plan.runs} runs to be read again`);
  const recorded = await load.record({ ...recording, runs: plan.runs });
  const reads: RejoinFigures[] = [];
  for (const concurrency of plan.concurrencies) {
    writeLine(`ended runs, ${concurrency} at a time`);
    reads.push(...(await readAll(load, replicas, { ...plan, concurrency })));
  }
  const followed: FollowFigures[] = [];
  for (const replica of REPLICAS) {
    writeLine(`runs under way, joined on ${replica} replica`);
    const result = await load.follow({ target, joinedOn: replicas[replica].name, ...plan.follow });
    followed.push({ replica, ...followFigures(result), runs: plan.follow.runs, concurrency: plan.follow.concurrency });
  }
  return { runs: plan.runs, ...recordedFigures(recorded), reads, followed };
}

/** Parts and replicas alternate round by round, so that other load on the machine affects all of them. */
async function readAll(
  load: LoadClient,
  replicas: Replicas,
  { concurrency, seconds, rounds }: Pick<Rejoin, 'seconds' | 'rounds'> & { readonly concurrency: number },
): Promise<RejoinFigures[]> {
  const lines = REPLICAS.flatMap((replica) => PARTS.map((part) => ({ replica, part, measured: [] as Round[] })));
  for (let number = 0; number < rounds; number += 1) {
    for (const { replica, part, measured } of lines) {
      const place = replicas[replica];
      measured.push(await measureRound(place, () => load.read({ target: place.name, part, concurrency, seconds })));
    }
  }
  return lines.map(({ replica, part, measured }) => {
    const floor = lines.find((line) => line.replica === replica && line.part === 'run')?.measured ?? [];
    return readFigures({ replica, part, concurrency }, measured, floor);
  });
}

function readFigures(
  line: Pick<RejoinFigures, 'replica' | 'part' | 'concurrency'>,
  rounds: readonly Round[],
  floor: readonly Round[],
): RejoinFigures {
  const latencies = rounds.flatMap((round) => round.latencies);
  const medians = (of: readonly Round[]): number[] => of.map((round) => percentile(round.latencies, 0.5));
  const floors = medians(floor);
  return {
    ...line,
    reads: latencies.length,
    perSecond: round(latencies.length / sum(rounds.map(({ seconds }) => seconds)), 1),
    ...percentiles(latencies),
    processorMsPerRead: round(sum(rounds.map(({ processorMs }) => processorMs)) / latencies.length, 2),
    databaseMsPerRead: databaseMsPerRun(rounds),
    toReadingTheRun: spreadOf(medians(rounds).map((value, index) => value / (floors[index] ?? Number.NaN))),
  };
}

function recordedFigures({ original, atOnce, events }: Recorded): Pick<RejoinResult, 'original' | 'atOnce' | 'events'> {
  return { events, original: percentiles(original), atOnce: percentiles(atOnce) };
}

function followFigures({ delays, joined, events }: FollowResult): Pick<FollowFigures, 'delay' | 'joined' | 'events'> {
  return { events, delay: percentiles(delays), joined: percentiles(joined) };
}

function percentiles(values: readonly number[]): Percentiles {
  return { p50Ms: round(percentile(values, 0.5), 2), p99Ms: round(percentile(values, 0.99), 2) };
}
