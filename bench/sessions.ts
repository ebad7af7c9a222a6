/**
 * Measures what a session pass adds to a run, compared with an API key, and the cost of minting and renewing a session, compared with
 * opening a thread.
 */
import { round, median, percentile } from './figures.ts';
import { type ComparedFigures, type ComparedLane, compareLanes } from './lanes.ts';
import type { Floor, WriteLine } from './passes.ts';
import type { SessionRuns } from './plan.ts';
import { createKey, inParallel, post, send } from './provision.ts';
import { INSTANT } from './script.ts';
import type { ClusteredEnvironment, RunningService, Stage } from './stage.ts';
import type { Environment } from './processes.ts';

export type SessionLaneName = 'key' | 'pass';
export type SessionRequestName = 'thread' | 'mint' | 'renewal';

const LANES: readonly ComparedLane<SessionLaneName>[] = [
  { name: 'key', over: null },
  { name: 'pass', over: 'key' },
];

export interface SessionResult {
  readonly mode: 'postgres' | 'embedded';
  readonly lanes: readonly ComparedFigures<SessionLaneName>[];
  readonly requests: readonly {
    readonly name: SessionRequestName;
    readonly count: number;
    readonly p50Ms: number;
    readonly p95Ms: number;
  }[];
}

export async function runSessions(
  stage: Stage,
  floor: Floor,
  clustered: ClusteredEnvironment,
  plan: SessionRuns,
  writeLine: WriteLine,
): Promise<SessionResult[]> {
  const results = [
    await runMode('postgres', await stage.startClustered(clustered), clustered.env, { floor, plan, writeLine }),
  ];
  if (plan.embedded) {
    const env = stage.embeddedEnvironment();
    results.push(await runMode('embedded', await stage.startEmbedded(env), env, { floor, plan, writeLine }));
  }
  return results;
}

interface Grounds {
  readonly floor: Floor;
  readonly plan: SessionRuns;
  readonly writeLine: WriteLine;
}

interface Minted {
  readonly session: { readonly thread_id: string };
  readonly pass: { readonly token: string };
  readonly resumeToken: { readonly token: string };
}

async function runMode(
  mode: SessionResult['mode'],
  running: RunningService,
  env: Environment,
  { floor, plan, writeLine }: Grounds,
): Promise<SessionResult> {
  const tell = (line: string): void => writeLine(`sessions, ${mode}: ${line}`);
  const { origin, pid } = running.service;
  const key = await createKey(env);
  tell('making agents, threads and sessions');
  const agents = await inParallel(plan.agents, (index) =>
    post(origin, key, '/v1/agents', { name: `Bench ${index}`, provider: { type: 'anthropic' } }),
  );
  const ask = async <Body>(path: string, body: object): Promise<Body> =>
    JSON.parse(await send('POST', origin, key, path, body)) as Body;
  const agentOf = (index: number): string | undefined => agents[index % agents.length];
  const threads = await inParallel(plan.threads, (index) =>
    post(origin, key, '/v1/threads', { assistant_id: agentOf(index) }),
  );
  // Without a user, because each run of a user searches memories, which another part measures.
  const minted = await inParallel(plan.threads, (index) =>
    ask<Minted>('/v1/sessions', { assistant_id: agentOf(index) }),
  );
  const passes = new Map(minted.map(({ session, pass }) => [session.thread_id, pass.token]));
  const target = { kind: 'service', origin, pid, key } as const;
  await floor.load.open(`sessions/${mode}/key`, { ...target, threads });
  await floor.load.open(`sessions/${mode}/pass`, {
    ...target,
    threads: [...passes.keys()],
    passes: Object.fromEntries(passes),
  });
  const lanes = LANES.map(({ name }) => ({ target: `sessions/${mode}/${name}`, script: INSTANT }));
  tell('warming up');
  await floor.load.alternate({ lanes, rounds: plan.warmUpRounds });
  tell('runs in turn, one at a time');
  const latencies = await floor.load.alternate({ lanes, rounds: plan.rounds });
  tell('opening threads, minting and renewing in turn');
  const requests = await measureRequests(plan.requests, {
    thread: (index) => ask('/v1/threads', { assistant_id: agentOf(index) }),
    mint: (index) => ask('/v1/sessions', { assistant_id: agentOf(index), endUser: `visitor-${index}` }),
    renewal: (index) => {
      const { resumeToken } = minted[index % minted.length] ?? {};
      return ask('/v1/sessions/refresh', { resumeToken: resumeToken?.token });
    },
  });
  await running.stop();
  return { mode, lanes: compareLanes(LANES, latencies), requests };
}

/** The kinds alternate, so that other load on the machine affects all of them. */
async function measureRequests(
  count: number,
  kinds: Readonly<Record<SessionRequestName, (index: number) => Promise<unknown>>>,
): Promise<SessionResult['requests']> {
  const names = ['thread', 'mint', 'renewal'] as const;
  const times = new Map(names.map((name) => [name, [] as number[]]));
  for (let index = 0; index < count; index += 1) {
    for (const name of names) {
      const began = performance.now();
      await kinds[name](index);
      times.get(name)?.push(performance.now() - began);
    }
  }
  return names.map((name) => {
    const all = times.get(name) ?? [];
    return { name, count: all.length, p50Ms: round(median(all), 2), p95Ms: round(percentile(all, 0.95), 2) };
  });
}
