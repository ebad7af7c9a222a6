/** What the three tools of a server cost a run whose model does not call them. */
import { median, round, type Spread, spreadOf } from './figures.ts';
import type { Floor, WriteLine } from './passes.ts';
import type { UnusedTurns } from './plan.ts';
import type { ClusteredEnvironment, Stage } from './stage.ts';
import { equip, threadsOf } from './tools-setup.ts';
import { sentBy, STAYS_WARM, takeTurns, type TurnTarget } from './turns.ts';

const TOOLS = 3;
/** Enough to stay below their limits. */
const AGENTS = 120;

export interface UnusedToolsFigures {
  /** Processor milliseconds of a run. */
  readonly bareMs: number;
  readonly withoutMs: number;
  readonly offeredMs: number;
  /** The difference of the last two in the same round, and this as a multiple of the bare server's run. */
  readonly addedMs: Spread;
  readonly addedToBare: Spread;
}

/** One process of the service, which runs agents without and with an integration in turn, and the bare server. */
export async function measureUnusedTools(
  stage: Stage,
  { load, direct, bare }: Floor,
  clustered: ClusteredEnvironment,
  plan: UnusedTurns,
  writeLine: WriteLine,
): Promise<UnusedToolsFigures> {
  const { port } = await stage.startToolServer();
  const toolOrigin = `http://127.0.0.1:${port}`;
  const environment = { ...clustered, env: { ...clustered.env, EGRESS_ALLOW: `127.0.0.1:${port}` } };
  const running = await stage.startClustered(environment, [STAYS_WARM]);
  const { env, service } = running;
  const { origin, pid } = service;
  writeLine('making agents and integrations');
  const open = async (name: string, tools: number): Promise<TurnTarget> => {
    const integrations = { count: tools > 0 ? 1 : 0, shared: true };
    const equipment = { form: 'json', agents: AGENTS, integrations, toolsOfEach: tools } as const;
    const equipped = await equip({ origin, env, toolOrigin }, equipment);
    await load.open(name, { ...(await threadsOf(equipped, plan.threads, AGENTS)), pid });
    const sent = await sentBy(load, name, direct.origin);
    if (sent.tools.length !== tools)
      throw new Error(`A run offers the model ${sent.tools.join(', ')}, not ${tools} tools`);
    return { name, pid };
  };
  const targets = [await open('unused/without', 0), await open('unused/offered', TOOLS)];
  await load.open('unused/bare', bare);
  writeLine(`${plan.concurrency} runs at a time, without and with ${TOOLS} tools in turn`);
  const costs = await takeTurns(load, [{ name: 'unused/bare', pid: bare.pid }, ...targets], plan);
  await running.stop();
  return figuresOf(costs);
}

function figuresOf([bare = [], without = [], offered = []]: readonly (readonly number[])[]): UnusedToolsFigures {
  const added = offered.map((cost, index) => cost - (without[index] ?? Number.NaN));
  return {
    bareMs: round(median(bare), 3),
    withoutMs: round(median(without), 3),
    offeredMs: round(median(offered), 3),
    addedMs: spreadOf(added),
    addedToBare: spreadOf(added.map((ms, index) => ms / (bare[index] ?? Number.NaN))),
  };
}
