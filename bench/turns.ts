import type { LoadClient } from './load-client.ts';
import type { Place } from './measure.ts';
import { threadsMs } from './samples.ts';
import { INSTANT } from './script.ts';

/** Streamed runs of several targets in turn. */
export interface Turns {
  readonly rounds: number;
  /** Of each target in one round: short and many, so that other load on the machine affects all targets alike. */
  readonly turns: number;
  readonly concurrency: number;
  /** Of one turn: the same number on each target, so that the threads of all grow alike. */
  readonly runs: number;
  /** Before these, and not measured, because what a process holds in memory expires while others have their turns. */
  readonly warmUpRuns: number;
}

export type TurnTarget = Pick<Place, 'name' | 'pid'>;

/** Otherwise V8 collects garbage and drops compiled code in a process that waits for its turn. */
export const STAYS_WARM = '--no-memory-reducer';

const SECONDS_AT_MOST = 60;

/**
 * Each turn has the opposite order of the one before. A first round is not measured, because code is compiled in it.
 * @returns processor milliseconds of a run, by target and round
 */
export async function takeTurns(load: LoadClient, targets: readonly TurnTarget[], plan: Turns): Promise<number[][]> {
  const costs = targets.map((): number[] => []);
  for (let round = 0; round <= plan.rounds; round += 1) {
    const spent = targets.map((target, index) => ({ target, index, ms: 0 }));
    for (let turn = 0; turn < plan.turns; turn += 1) {
      for (const each of turn % 2 === 0 ? spent : spent.toReversed())
        each.ms += await takeTurn(load, each.target, plan);
    }
    if (round > 0) for (const { index, ms } of spent) costs[index]?.push(ms / (plan.turns * plan.runs));
  }
  return costs;
}

async function takeTurn(load: LoadClient, { name: target, pid }: TurnTarget, plan: Turns): Promise<number> {
  const { concurrency, runs, warmUpRuns } = plan;
  const slice = { target, form: 'streamed', script: INSTANT, concurrency, seconds: SECONDS_AT_MOST } as const;
  await load.slice({ ...slice, maxRuns: warmUpRuns });
  const before = threadsMs(pid);
  const { latencies } = await load.slice({ ...slice, maxRuns: runs });
  if (latencies.length < runs) throw new Error(`${target} made ${latencies.length} runs in ${SECONDS_AT_MOST} s`);
  return threadsMs(pid) - before;
}

/** What a run adds to the messages of its request to the model. */
export interface Sent {
  readonly system: string;
  readonly tools: readonly string[];
}

/** Makes one run of the target, and reads its request to the model. */
export async function sentBy(load: LoadClient, target: string, upstreamOrigin: string): Promise<Sent> {
  const run = { target, form: 'streamed', script: INSTANT, concurrency: 1, seconds: SECONDS_AT_MOST } as const;
  await load.slice({ ...run, maxRuns: 1 });
  const { last } = (await (await fetch(upstreamOrigin)).json()) as { readonly last: string };
  const { system = '', tools = [] } = JSON.parse(last) as {
    readonly system?: unknown;
    readonly tools?: readonly { readonly name: string }[];
  };
  return { system: system === '' ? '' : JSON.stringify(system), tools: tools.map(({ name }) => name) };
}
