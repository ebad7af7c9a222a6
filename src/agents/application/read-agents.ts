import { Injectable, type OnModuleInit } from '@nestjs/common';
import { mayUseAgent, type ApiKeyPrincipal, ResourceLookup, ResourceLookups } from '../../access/index.js';
import type { Agent } from '../domain/agent.js';
import { AgentNotFound } from '../domain/agents.errors.js';
import { AgentsRepository } from '../persistence/agents.repository.js';

/** An agent as lists of every type show it. */
export type Assistant = Omit<Agent, 'systemPrompt'>;

/** An agent as the guard has read it for an answer. */
export interface StoredAgent {
  readonly agentId: string;
  readonly agent: Agent;
}

/** The kind of resource of a route that answers the agent which it names. */
export const STORED_AGENT = 'stored-agent';

/**
 * The guard's look-up where the agent itself is the answer: always from the database, because the answer must
 * not be older than a change that the caller has been told of, and one statement for guard and answer together.
 */
@Injectable()
export class StoredAgentLookup extends ResourceLookup<StoredAgent> implements OnModuleInit {
  override readonly kind = STORED_AGENT;

  constructor(
    private readonly agents: AgentsRepository,
    private readonly lookups: ResourceLookups,
  ) {
    super();
  }

  onModuleInit(): void {
    this.lookups.register(this);
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

  /** The named agents in the order asked, each once; what the caller cannot see is left out. */
  async named(caller: ApiKeyPrincipal, ids: readonly string[]): Promise<Agent[]> {
    const visible = [...new Set(ids)].filter((id) => mayUseAgent(caller, id));
    const found = await this.agents.findMany(caller.organizationId, visible);
    const byId = new Map(found.filter(({ managedByApi }) => managedByApi).map((agent) => [agent.id, agent]));
    return visible.flatMap((id) => byId.get(id) ?? []);
  }

  /**
   * Every agent the caller can see, of every type, by name then id.
   * @param part of the name, in any case; undefined for all
   */
  async assistants(caller: ApiKeyPrincipal, part: string | undefined): Promise<Assistant[]> {
    const all = await this.agents.list(caller.organizationId, caller.agentIds);
    if (part === undefined) return all;
    // Not in SQL: what `lower()` does beyond ASCII depends on the locale the database was made with.
    const wanted = part.toLowerCase();
    return all.filter(({ name }) => name.toLowerCase().includes(wanted));
  }
}
