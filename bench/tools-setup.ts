import type { Environment } from './processes.ts';
import { createKey, inParallel, post } from './provision.ts';
import type { Target } from './targets.ts';

/** What the agents of one organization have of integrations; each integration is a server of its own to the service. */
export interface Equipment {
  /** How the server answers: a part of its address. */
  readonly form: 'json' | 'sse' | 'told';
  readonly agents: number;
  /** Of each agent, or shared by all of them. */
  readonly integrations: { readonly count: number; readonly shared: boolean };
  readonly toolsOfEach: number;
}

export interface IdleIntegration {
  readonly key: string;
  /** Of the integration, below the service's origin. */
  readonly path: string;
}

export interface EquippedService {
  readonly origin: string;
  readonly env: Environment;
  readonly toolOrigin: string;
}

/** An organization whose agents are equipped alike. */
export interface Equipped {
  readonly service: EquippedService;
  readonly key: string;
  readonly agents: readonly string[];
  readonly integrations: readonly IdleIntegration[];
}

export async function equip(service: EquippedService, equipment: Equipment): Promise<Equipped> {
  const { form, agents: count, integrations: of, toolsOfEach } = equipment;
  const key = await createKey(service.env);
  const { origin, toolOrigin } = service;
  const agents = await inParallel(count, (index) =>
    post(origin, key, '/v1/agents', { name: `Bench ${index}`, provider: { type: 'anthropic' } }),
  );
  const attach = async (agentId: string | undefined, server: number): Promise<IdleIntegration> => {
    const url = `${toolOrigin}/${form}/${toolsOfEach}/${server}`;
    const body = {
      type: 'custom-mcp',
      app: `Bench ${server}`,
      url,
      transportType: 'streamableHttp',
      auth: { type: 'none' },
    };
    const path = `/v1/agents/${agentId ?? ''}/tool-integrations`;
    return { key, path: `${path}/${await post(origin, key, path, body)}` };
  };
  const integrations = await inParallel(of.shared ? of.count : of.count * count, (server) =>
    attach(agents[of.shared ? 0 : server % count], server),
  );
  // The body of each is the same, so that agents after the first only come to use what is there.
  if (of.shared) for (const agentId of agents.slice(1)) await inParallel(of.count, (server) => attach(agentId, server));
  return { service, key, agents, integrations };
}

/** Threads of the first agents, on which runs take turns. */
export async function threadsOf(
  { service: { origin }, key, agents }: Equipped,
  count: number,
  ofAgents: number,
): Promise<Target> {
  const threads = await inParallel(count, (index) =>
    post(origin, key, '/v1/threads', { assistant_id: agents[index % ofAgents] }),
  );
  return { kind: 'service', origin, pid: 0, key, threads };
}
