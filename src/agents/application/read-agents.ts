import { Injectable } from '@nestjs/common';
import { mayUseAgent, type ApiKeyPrincipal, ResourceLookup, ResourceLookups } from '../../access/index.js';
import type { Agent } from '../domain/agent.js';
import { AgentNotFound } from '../domain/agents.errors.js';
import { AgentsRepository } from '../persistence/agents.repository.js';

/** An agent without its prompt, which may be long. */
export type Assistant = Omit<Agent, 'systemPrompt'>;

/** An agent that the access guard has read. */
export interface StoredAgent {
  readonly agentId: string;
  readonly agent: Agent;
}

/** The resource kind of the route that returns one agent. */
export const STORED_AGENT = 'stored-agent';

/**
 * The access guard's lookup for the route that returns the agent. It reads the database, because the response must not be older
 * than a change whose response the caller already has. Guard and response share the one statement.
 */
@Injectable()
export class StoredAgentLookup extends ResourceLookup<StoredAgent> {
  override readonly kind = STORED_AGENT;

  constructor(
    private readonly agents: AgentsRepository,
    lookups: ResourceLookups,
  ) {
    super();
    lookups.register(this);
  }

  async find(organizationId: string, id: string): Promise<StoredAgent | null> {
    const agent = await this.agents.find(organizationId, id);
    return agent?.managedByApi ? { agentId: agent.id, agent } : null;
  }

  absent(): AgentNotFound {
    return new AgentNotFound();
  }
}

@Injectable()
export class ReadAgents {
  constructor(private readonly agents: AgentsRepository) {}

  /** Agents in the order of `ids`, each once; those that the caller cannot see are left out. */
  async named(caller: ApiKeyPrincipal, ids: readonly string[]): Promise<Agent[]> {
    const visible = [...new Set(ids)].filter((id) => mayUseAgent(caller, id));
    const found = await this.agents.findMany(caller.organizationId, visible);
    const byId = new Map(found.filter(({ managedByApi }) => managedByApi).map((agent) => [agent.id, agent]));
    return visible.flatMap((id) => byId.get(id) ?? []);
  }

  /**
   * All agents that the caller can see, of every type, by name and id.
   * @param part only agents whose name contains it, ignoring case
   */
  async assistants(caller: ApiKeyPrincipal, part: string | undefined): Promise<Assistant[]> {
    const all = await this.agents.list(caller.organizationId, caller.agentIds);
    if (part === undefined) return all;
    // Not in SQL: beyond ASCII, `lower()` depends on the locale of the database.
    const wanted = part.toLowerCase();
    return all.filter(({ name }) => name.toLowerCase().includes(wanted));
  }
}
