import type { Environment } from './processes.ts';
import { createKey, inParallel, post } from './provision.ts';
import type { Target } from './targets.ts';

/** The integrations of the agents of one organization; the service treats each as a separate server. */
export interface Equipment {
  /** The form of the server's responses, a part of its path. */
  readonly form: 'json' | 'sse' | 'notifying';
  readonly agents: number;
  /** The number of integrations of each agent, or of all agents if they share them. */
  readonly integrations: { readonly count: number; readonly shared: boolean };
  readonly toolsOfEach: number;
}

export interface IdleIntegration {
  readonly key: string;
  /** The path of the integration. */
  readonly path: string;
}

export interface EquippedService {
  readonly origin: string;
  readonly env: Environment;
  readonly toolOrigin: string;
}

/** An organization whose agents have the same setup. */
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
  // The bodies are equal, so that later agents use the integration of the first.
  if (of.shared) for (const agentId of agents.slice(1)) await inParallel(of.count, (server) => attach(agentId, server));
  return { service, key, agents, integrations };
}

/** Threads of the first agents, which the runs use in turn. */
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
