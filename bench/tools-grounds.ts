import type { ToolRuns } from './plan.ts';
import type { Target } from './targets.ts';
import { equip, type Equipped, type EquippedService, type IdleIntegration, threadsOf } from './tools-setup.ts';

/** A kind of run: its agents, and the tool that the model calls. */
export interface Lane {
  readonly name: LaneName;
  readonly target: Target;
  readonly tool?: string;
}

export type LaneName =
  | 'without'
  | 'of the caller'
  | 'offered'
  | 'no such tool'
  | 'json'
  | 'sse'
  | 'twenty'
  | 'many'
  | 'many, no such tool'
  | 'find_tools';

/** The organizations and agents of runs with tools, made before the service is restarted. */
export interface ToolGrounds {
  readonly cold: readonly Lane[];
  readonly hot: readonly Lane[];
  /** Integrations of other organizations; those of `notifying` keep a stream open for changes of their tools. */
  readonly idle: { readonly json: readonly IdleIntegration[]; readonly notifying: readonly IdleIntegration[] };
  /** All integrations. */
  readonly integrations: number;
  /** Integrations with open connections during the runs. */
  readonly pooled: number;
}

const CALLED = 'list_records_0';
const UNKNOWN = 'no_such_tool';
/** Agents with the tools of many servers: few enough to stay in the cache. */
const HOT_AGENTS = 6;

/** Most open connections of an organization. */
const OF_ORGANIZATION = 50;
const SERVERS = 20;

interface Organizations {
  readonly without: Equipped;
  readonly json: Equipped;
  readonly sse: Equipped;
  readonly twenty: Equipped;
  readonly many: Equipped;
}

export async function provisionTools(service: EquippedService, plan: ToolRuns): Promise<ToolGrounds> {
  const own = { integrations: { count: 1, shared: false }, toolsOfEach: 2 };
  const shared = { form: 'json', agents: plan.coldRuns, integrations: { count: SERVERS, shared: true } } as const;
  const of: Organizations = {
    without: await equip(service, {
      form: 'json',
      agents: plan.called,
      integrations: { count: 0, shared: true },
      toolsOfEach: 0,
    }),
    json: await equip(service, { form: 'json', agents: plan.called, ...own }),
    sse: await equip(service, { form: 'sse', agents: plan.streaming, ...own }),
    twenty: await equip(service, { ...shared, toolsOfEach: 2 }),
    many: await equip(service, { ...shared, toolsOfEach: 20 }),
  };
  const idle = {
    json: await others(service, 'json', plan.idle.json),
    notifying: await others(service, 'notifying', plan.idle.notifying),
  };
  const pooled = of.json.integrations.length + of.sse.integrations.length;
  return {
    pooled,
    integrations: pooled + 2 * SERVERS + idle.json.length + idle.notifying.length,
    idle,
    cold: await coldLanes(of, plan),
    hot: await hotLanes(of, plan),
  };
}

/** As many as can be open, in several organizations. */
async function others(
  service: EquippedService,
  form: 'json' | 'notifying',
  steps: readonly number[],
): Promise<IdleIntegration[]> {
  const made: IdleIntegration[] = [];
  while (made.length < Math.max(...steps)) {
    const integrations = { count: OF_ORGANIZATION / 5, shared: false };
    made.push(...(await equip(service, { form, agents: 5, integrations, toolsOfEach: 2 })).integrations);
  }
  return made;
}

async function coldLanes({ without, json, twenty, many }: Organizations, { coldRuns }: ToolRuns): Promise<Lane[]> {
  const lane = async (name: LaneName, of: Equipped): Promise<Lane> => ({
    name,
    target: await threadsOf(of, coldRuns, coldRuns),
  });
  return [
    await lane('without', without),
    await lane('offered', json),
    await lane('twenty', twenty),
    await lane('many', many),
  ];
}

async function hotLanes(
  { without, json, sse, twenty, many }: Organizations,
  { threads, called }: ToolRuns,
): Promise<Lane[]> {
  // Three kinds of runs share the agents with an integration; those without one must be used as often as each of these.
  const inTurn = new Map([
    [without, Math.ceil(called / 3)],
    [twenty, HOT_AGENTS],
    [many, HOT_AGENTS],
  ]);
  const lane = async (name: LaneName, of: Equipped, tool?: string): Promise<Lane> => {
    const target = await threadsOf(of, threads, inTurn.get(of) ?? of.agents.length);
    return { name, target, ...(tool !== undefined && { tool }) };
  };
  const callerLane = async (): Promise<Lane> => {
    const plain = await lane('of the caller', without);
    return { ...plain, target: { ...plain.target, clientTools: 3 } };
  };
  return [
    await lane('without', without),
    await callerLane(),
    await lane('offered', json),
    await lane('no such tool', json, UNKNOWN),
    await lane('json', json, CALLED),
    await lane('sse', sse, CALLED),
    await lane('twenty', twenty),
    await lane('many', many),
    await lane('many, no such tool', many, UNKNOWN),
    await lane('find_tools', many, 'find_tools'),
  ];
}
