import { Injectable } from '@nestjs/common';
import { ResourceLookup, ResourceLookups } from '../../access/index.js';
import type { ModelOptions, ProviderType } from '../../models/index.js';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Vault } from '../../platform/vault/index.js';
import type { Agent } from '../domain/agent.js';
import { type AgentSettings, isThresholdSet } from '../domain/agent-settings.js';
import type { AgentType } from '../domain/agent-type.js';
import { AgentChanged, AgentDeleted } from '../domain/agents.events.js';
import { AgentNotFound } from '../domain/agents.errors.js';
import { AgentsRepository } from '../persistence/agents.repository.js';
import { providerKeyOf } from './agent-secrets.js';
import { AGENT_CACHE_ENTRIES, AGENT_CACHE_MS } from './limits.js';

export interface RunnableAgent extends Omit<AgentSettings, 'provider' | 'scoreThresholdSet'> {
  readonly id: string;
  /** Equals `id`. The access guard needs it on every resource. */
  readonly agentId: string;
  readonly organizationId: string;
  readonly type: AgentType;
  readonly version: number;
  readonly name: string;
  readonly systemPrompt: string;
  readonly provider: { readonly type: ProviderType; readonly model: string; readonly useOwnApiKey: boolean };
  readonly options: ModelOptions;
  /** Whether a caller set the threshold of `knowledgeSearch`; false for the default. */
  readonly scoreThresholdSet: boolean;
}

/** An agent read from the database, not from the cache. */
export interface CurrentAgent {
  readonly id: string;
  /** Equals `id`. The access guard needs it on every resource. */
  readonly agentId: string;
  readonly type: AgentType;
  readonly version: number;
}

export interface VisibleAgent {
  readonly id: string;
  readonly name: string;
  readonly type: AgentType;
  readonly createdAt: Date;
}

/**
 * Agents for other contexts. `find` and `ownApiKey` use a cache: changes made by this process are visible at once, those of
 * other processes within 5 seconds.
 */
@Injectable()
export class AgentDirectory {
  private readonly running: TtlCache<RunnableAgent>;
  private readonly ownKeys: TtlCache<string>;

  constructor(
    private readonly agents: AgentsRepository,
    private readonly vault: Vault,
    clock: Clock,
    events: EventBus,
  ) {
    const options = { clock, ttlMs: AGENT_CACHE_MS, maxEntries: AGENT_CACHE_ENTRIES };
    this.running = new TtlCache(options);
    this.ownKeys = new TtlCache(options);
    for (const event of [AgentChanged, AgentDeleted]) {
      events.subscribe<AgentChanged | AgentDeleted>(event, ({ organizationId, agentId }) => {
        this.forget(organizationId, agentId);
      });
    }
  }

  async find(organizationId: string, agentId: string): Promise<RunnableAgent | null> {
    const load = async (): Promise<RunnableAgent | undefined> => {
      const agent = await this.agents.find(organizationId, agentId);
      return agent ? runnable(agent) : undefined;
    };
    return (await this.running.get(keyOf(organizationId, agentId), load)) ?? null;
  }

  /** Reads the database, for an `ETag`: that must not be older than what is read after it. */
  async current(organizationId: string, agentId: string): Promise<CurrentAgent | null> {
    const agent = await this.agents.findCurrent(organizationId, agentId);
    return agent && { id: agent.id, agentId: agent.id, type: agent.type, version: agent.version };
  }

  /**
   * The agent's own key for its provider in clear text, only for requests to the provider.
   * @throws SecretUnreadable when the agent has none
   */
  async ownApiKey(organizationId: string, agentId: string): Promise<string> {
    const read = (): Promise<string> => this.vault.read(providerKeyOf(organizationId, agentId));
    return (await this.ownKeys.get(keyOf(organizationId, agentId), read)) ?? read();
  }

  /**
   * All agents of the organization, of every type, by name and id. Reads the database.
   * @param allowed the caller's allowlist; null allows all
   */
  async visibleAgents(organizationId: string, allowed: ReadonlySet<string> | null): Promise<VisibleAgent[]> {
    const agents = await this.agents.list(organizationId, allowed);
    return agents.map(({ id, name, type, createdAt }) => ({ id, name, type, createdAt }));
  }

  private forget(organizationId: string, agentId: string): void {
    const key = keyOf(organizationId, agentId);
    this.running.delete(key);
    this.ownKeys.delete(key);
  }
}

/** The access guard's lookup of `{agentId}` on the routes of agents. Agents that the API does not manage count as absent. */
@Injectable()
export class ManagedAgentLookup extends ResourceLookup<RunnableAgent> {
  override readonly kind = 'agent';

  constructor(
    private readonly directory: AgentDirectory,
    lookups: ResourceLookups,
  ) {
    super();
    lookups.register(this);
  }

  async find(organizationId: string, id: string): Promise<RunnableAgent | null> {
    const agent = await this.directory.find(organizationId, id);
    return agent?.type === 'classic' ? null : agent;
  }

  absent(): AgentNotFound {
    return new AgentNotFound();
  }
}

/** The access guard's lookup of an `assistant_id`, which may be an agent of any type. */
@Injectable()
export class AssistantLookup extends ResourceLookup<RunnableAgent> {
  override readonly kind = 'assistant';

  constructor(
    private readonly directory: AgentDirectory,
    lookups: ResourceLookups,
  ) {
    super();
    lookups.register(this);
  }

  find(organizationId: string, id: string): Promise<RunnableAgent | null> {
    return this.directory.find(organizationId, id);
  }

  absent(): AgentNotFound {
    return new AgentNotFound();
  }
}

function keyOf(organizationId: string, agentId: string): string {
  return `${organizationId}/${agentId}`;
}

function runnable(agent: Agent): RunnableAgent {
  const { id, organizationId, type, version, name, systemPrompt } = agent;
  const { provider, ...settings } = agent.settings;
  const { options, model, useOwnApiKey } = provider;
  return {
    ...settings,
    id,
    agentId: id,
    organizationId,
    type,
    version,
    name,
    systemPrompt,
    provider: { type: options.type, model, useOwnApiKey },
    options,
    scoreThresholdSet: isThresholdSet(settings.knowledgeSearch, settings.scoreThresholdSet),
  };
}
