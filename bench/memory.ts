/**
 * Measures what an agent's memory of the user adds to a run, without memories and with the maximum; and then the cost of a search and a
 * save, compared with a run that calls an unknown tool.
 */
import { type ComparedFigures, type ComparedLane, compareLanes } from './lanes.ts';
import type { LoadClient } from './load-client.ts';
import { openDatabaseOf } from './knowledge-stage.ts';
import { fillMemories } from './memory-fill.ts';
import { lastSentMemory, type SentMemory } from './memory-requests.ts';
import type { Floor, WriteLine } from './passes.ts';
import type { MemoryRuns } from './plan.ts';
import type { Environment } from './processes.ts';
import { createKey, inParallel, post } from './provision.ts';
import { INSTANT, type ReplyScript } from './script.ts';
import type { ClusteredEnvironment, RunningService, Stage } from './stage.ts';
import type { Target } from './targets.ts';

const USER = 'bench-user';

export type MemoryLaneName = 'off' | 'empty' | 'full' | 'no such tool' | 'search' | 'save';

interface Kind extends ComparedLane<MemoryLaneName> {
  readonly enabled: boolean;
  readonly filled: boolean;
  /** A tool that the model calls once. */
  readonly tool?: string;
  /** The expected result of the call, if there is one. */
  readonly answered?: RegExp;
}

const KINDS: readonly Kind[] = [
  { name: 'off', over: null, enabled: false, filled: false },
  { name: 'empty', over: 'off', enabled: true, filled: false },
  { name: 'full', over: 'off', enabled: true, filled: true },
  { name: 'no such tool', over: null, enabled: true, filled: true, tool: 'no_such_tool', answered: /no tool/i },
  {
    name: 'search',
    over: 'no such tool',
    enabled: true,
    filled: true,
    tool: 'memory_search',
    answered: /⟦end of memories/,
  },
  {
    name: 'save',
    over: 'no such tool',
    enabled: true,
    filled: true,
    tool: 'memory_save',
    answered: /^Saved as [0-9a-f]{8}\./,
  },
];

export interface MemoryResult {
  readonly mode: 'postgres' | 'embedded';
  /** Memories of the user for each agent that has any. */
  readonly memories: number;
  readonly lanes: readonly ComparedFigures<MemoryLaneName>[];
  /** The part of them in the prompt of a run. */
  readonly prompt: { readonly shown: number; readonly characters: number };
}

/** In each mode, starts the service twice on the same data, and fills the database in between. */
export async function runMemory(
  stage: Stage,
  floor: Floor,
  clustered: ClusteredEnvironment,
  plan: MemoryRuns,
  writeLine: WriteLine,
): Promise<MemoryResult[]> {
  const results = [
    await runMode('postgres', () => stage.startClustered(clustered), clustered.env, { floor, plan, writeLine }),
  ];
  if (plan.embedded) {
    const env = stage.embeddedEnvironment();
    results.push(await runMode('embedded', () => stage.startEmbedded(env), env, { floor, plan, writeLine }));
  }
  return results;
}

interface Grounds {
  readonly floor: Floor;
  readonly plan: MemoryRuns;
  readonly writeLine: WriteLine;
}

async function runMode(
  mode: MemoryResult['mode'],
  start: () => Promise<RunningService>,
  env: Environment,
  on: Grounds,
): Promise<MemoryResult> {
  const { floor, plan, writeLine } = on;
  const tell = (line: string): void => writeLine(`memory, ${mode}: ${line}`);
  tell('making agents and threads');
  const filling = await start();
  const made = await makeLanes(filling.service.origin, await createKey(env), plan);
  await filling.stop();
  tell(`${plan.memories} memories of a user by each agent that has some`);
  const remembering = made.filter(({ kind }) => kind.filled).flatMap(({ agents }) => agents);
  await fill(env, remembering, plan.memories);

  const running = await start();
  const { origin, pid } = running.service;
  const lanes: Lane[] = [];
  for (const { kind, target: before } of made) {
    const target = `memory/${mode}/${kind.name}`;
    await floor.load.open(target, { ...before, origin, pid });
    lanes.push({ kind, target, script: { ...INSTANT, ...(kind.tool !== undefined && { tool: kind.tool }) } });
  }
  const result = await measure(floor, lanes, plan, tell);
  await running.stop();
  return { mode, memories: plan.memories, ...result };
}

interface MadeLane {
  readonly kind: Kind;
  readonly agents: readonly string[];
  readonly target: Target;
}

/** Each lane has separate agents, so that its saves do not change another lane. */
async function makeLanes(origin: string, key: string, plan: MemoryRuns): Promise<MadeLane[]> {
  const lanes: MadeLane[] = [];
  for (const kind of KINDS) {
    const body = { provider: { type: 'anthropic' }, longTermMemory: { enabled: kind.enabled } };
    const agents = await inParallel(plan.agents, (index) =>
      post(origin, key, '/v1/agents', { name: `Bench ${index}`, ...body }),
    );
    const threads = await inParallel(plan.threads, (index) =>
      post(origin, key, '/v1/threads', { assistant_id: agents[index % agents.length] }),
    );
    lanes.push({ kind, agents, target: { kind: 'service', origin, pid: 0, key, threads, userId: USER } });
  }
  return lanes;
}

async function fill(env: Environment, agents: readonly string[], memories: number): Promise<void> {
  const open = await openDatabaseOf(env);
  try {
    await fillMemories(open.database, agents, USER, memories);
  } finally {
    await open.close();
  }
}

interface Lane {
  readonly kind: Kind;
  readonly target: string;
  readonly script: ReplyScript;
}

async function measure(
  { load, direct }: Floor,
  lanes: readonly Lane[],
  plan: MemoryRuns,
  writeLine: WriteLine,
): Promise<Pick<MemoryResult, 'lanes' | 'prompt'>> {
  await checkLanes(load, direct.origin, lanes, plan.memories);
  writeLine('warming up');
  await load.alternate({ lanes, rounds: plan.warmUpRounds });
  writeLine(`${lanes.length} kinds of runs in turn, one at a time`);
  const latencies = await load.alternate({ lanes, rounds: plan.rounds });
  const sent = await checkLanes(load, direct.origin, lanes, plan.memories);
  const { shown = 0, characters = 0 } = sent.get('full') ?? {};
  const figures = compareLanes(
    lanes.map(({ kind }) => kind),
    latencies,
  );
  return { lanes: figures, prompt: { shown, characters } };
}

/**
 * Makes one run of each lane and checks the request to the model.
 * @throws Error if the lane does not measure what it is meant to
 */
async function checkLanes(
  load: LoadClient,
  upstream: string,
  lanes: readonly Lane[],
  memories: number,
): Promise<ReadonlyMap<MemoryLaneName, SentMemory>> {
  const sent = new Map<MemoryLaneName, SentMemory>();
  for (const lane of lanes) {
    const { name, enabled, filled, answered } = lane.kind;
    await load.alternate({ lanes: [lane], rounds: 1 });
    const request = await lastSentMemory(upstream);
    const isAnswered = answered ? answered.test(request.result ?? '') : request.result === null;
    if (request.total !== (filled ? memories : 0) || request.offersTools !== enabled || !isAnswered) {
      throw new Error(`The lane "${name}" does not measure what it is meant to: ${JSON.stringify(request)}`);
    }
    sent.set(name, request);
  }
  return sent;
}
