import { type ComparedFigures, compareLanes } from './lanes.ts';
import type { LoadClient } from './load-client.ts';
import type { Floor, WriteLine } from './passes.ts';
import type { HookRuns } from './plan.ts';
import type { Environment } from './processes.ts';
import { inParallel, put } from './provision.ts';
import { INSTANT, type ReplyScript } from './script.ts';
import type { ClusteredEnvironment, RunningService, Stage } from './stage.ts';
import { equip, type Equipped, type EquippedService, threadsOf } from './tools-setup.ts';

const EVENTS = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'] as const;
const CALLED = 'list_records_0';

/** A kind of run: the hooks of its agents, and whether the model calls a tool once. */
interface Kind {
  readonly name: HookLaneName;
  /** Handlers of each event. */
  readonly handlers: number;
  readonly events: readonly (typeof EVENTS)[number][];
  readonly calls: boolean;
  /** The same run without hooks. */
  readonly over: HookLaneName | null;
}

export type HookLaneName = 'without' | 'five' | 'call, without' | 'call, one' | 'call, five';

const KINDS: readonly Kind[] = [
  { name: 'without', handlers: 0, events: [], calls: false, over: null },
  { name: 'five', handlers: 5, events: ['UserPromptSubmit'], calls: false, over: 'without' },
  { name: 'call, without', handlers: 0, events: [], calls: true, over: null },
  { name: 'call, one', handlers: 1, events: EVENTS, calls: true, over: 'call, without' },
  { name: 'call, five', handlers: 5, events: EVENTS, calls: true, over: 'call, without' },
];

export interface HooksResult {
  readonly mode: 'postgres' | 'embedded';
  readonly lanes: readonly ComparedFigures<HookLaneName>[];
  readonly endpoint: { readonly calls: number; readonly connections: number };
}

/** Starts an endpoint and a tool server, and in each mode the service twice on the same data: to fill it and to measure. */
export async function runHooks(
  stage: Stage,
  floor: Floor,
  clustered: ClusteredEnvironment,
  plan: HookRuns,
  writeLine: WriteLine,
): Promise<HooksResult[]> {
  const [endpoint, tools] = [await stage.startHookServer(), await stage.startToolServer()];
  const [hookOrigin, toolOrigin] = [endpoint, tools].map(({ port }) => `http://127.0.0.1:${port}`);
  const origins = { hookOrigin: hookOrigin ?? '', toolOrigin: toolOrigin ?? '' };
  const further = { EGRESS_ALLOW: `127.0.0.1:${endpoint.port},127.0.0.1:${tools.port}` };
  const environment = { ...clustered, env: { ...clustered.env, ...further } };
  const on = { floor, origins, plan, writeLine };
  const results = [await runMode('postgres', () => stage.startClustered(environment), environment.env, on)];
  if (plan.embedded) {
    const env = { ...stage.embeddedEnvironment(), ...further };
    results.push(await runMode('embedded', () => stage.startEmbedded(env), env, on));
  }
  return results;
}

interface Grounds {
  readonly floor: Floor;
  readonly origins: { readonly hookOrigin: string; readonly toolOrigin: string };
  readonly plan: HookRuns;
  readonly writeLine: WriteLine;
}

async function runMode(
  mode: HooksResult['mode'],
  start: () => Promise<RunningService>,
  env: Environment,
  on: Grounds,
): Promise<HooksResult> {
  const { floor, origins, plan, writeLine } = on;
  const tell = (line: string): void => writeLine(`hooks, ${mode}: ${line}`);
  tell('making agents with hooks');
  const filling = await start();
  const service = { origin: filling.service.origin, env, toolOrigin: origins.toolOrigin };
  const made: {
    readonly kind: Kind;
    readonly equipped: Equipped;
    readonly threads: Awaited<ReturnType<typeof threadsOf>>;
  }[] = [];
  for (const kind of KINDS) {
    const equipped = await equipKind(service, kind, origins.hookOrigin, plan);
    made.push({ kind, equipped, threads: await threadsOf(equipped, plan.threads, plan.agents) });
  }
  await filling.stop();

  const running = await start();
  const { origin, pid } = running.service;
  const lanes: Lane[] = [];
  for (const { kind, threads } of made) {
    const target = `hooks/${mode}/${kind.name}`;
    await floor.load.open(target, { ...threads, origin, pid });
    lanes.push({ kind, target, script: { ...INSTANT, ...(kind.calls && { tool: CALLED }) } });
  }
  const result = await measure(floor.load, lanes, origins.hookOrigin, plan, tell);
  await running.stop();
  return { mode, ...result };
}

interface Lane {
  readonly kind: Kind;
  readonly target: string;
  readonly script: ReplyScript;
}

async function equipKind(
  service: EquippedService,
  kind: Kind,
  hookOrigin: string,
  { agents }: HookRuns,
): Promise<Equipped> {
  const integrations = { count: kind.calls ? 1 : 0, shared: true };
  const equipped = await equip(service, { form: 'json', agents, integrations, toolsOfEach: 2 });
  if (kind.handlers === 0) return equipped;
  const hooks = Array.from({ length: kind.handlers }, (_, index) => ({ type: 'http', url: `${hookOrigin}/${index}` }));
  const document = Object.fromEntries(kind.events.map((event) => [event, [{ hooks }]]));
  await inParallel(agents, (index) =>
    put(service.origin, equipped.key, `/v1/agents/${equipped.agents[index] ?? ''}/hooks`, { hooks: document }),
  );
  return equipped;
}

async function measure(
  load: LoadClient,
  lanes: readonly Lane[],
  hookOrigin: string,
  plan: HookRuns,
  writeLine: WriteLine,
): Promise<Pick<HooksResult, 'lanes' | 'endpoint'>> {
  writeLine('warming up');
  await load.alternate({ lanes, rounds: plan.warmUpRounds });
  writeLine(`${lanes.length} kinds of runs in turn, one at a time`);
  const before = await received(hookOrigin);
  const latencies = await load.alternate({ lanes, rounds: plan.rounds });
  const after = await received(hookOrigin);
  const calls = after.calls - before.calls;
  const expected = plan.rounds * KINDS.reduce((sum, { handlers, events }) => sum + handlers * events.length, 0);
  if (calls !== expected) throw new Error(`The endpoint was called ${calls} times, not ${expected}`);
  const figures = compareLanes(
    lanes.map(({ kind }) => kind),
    latencies,
  );
  return { lanes: figures, endpoint: { calls, connections: after.connections - before.connections } };
}

async function received(origin: string): Promise<{ readonly calls: number; readonly connections: number }> {
  return (await (await fetch(origin)).json()) as { calls: number; connections: number };
}
