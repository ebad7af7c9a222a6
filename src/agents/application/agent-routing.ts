import { Injectable } from '@nestjs/common';
import { type ModelRoute, type GatewayWithToken, OrganizationGateways } from '../../models/index.js';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Vault } from '../../platform/vault/index.js';
import { AgentChanged, AgentDeleted } from '../domain/agents.events.js';
import { AgentsRepository } from '../persistence/agents.repository.js';
import type { RunnableAgent } from './agent-directory.js';
import { gatewayTokenOf } from './agent-secrets.js';
import { AGENT_CACHE_ENTRIES, AGENT_CACHE_MS } from './limits.js';

type GatewayChoice =
  { readonly use: 'own'; readonly gateway: GatewayWithToken } | { readonly use: 'none' | 'organization' };

/**
 * Decides whether an agent's model traffic goes through its own gateway, the organization's, or directly to the provider. Uses a
 * cache: changes made by this process take effect at once, those of other processes within 5 seconds.
 */
@Injectable()
export class AgentRouting {
  private readonly own: TtlCache<GatewayChoice>;

  constructor(
    private readonly gateways: OrganizationGateways,
    private readonly agents: AgentsRepository,
    private readonly vault: Vault,
    clock: Clock,
    events: EventBus,
  ) {
    this.own = new TtlCache({ clock, ttlMs: AGENT_CACHE_MS, maxEntries: AGENT_CACHE_ENTRIES });
    for (const event of [AgentChanged, AgentDeleted]) {
      events.subscribe<AgentChanged | AgentDeleted>(event, ({ agentId }) => {
        this.own.delete(agentId);
      });
    }
  }

  /** @returns undefined when the agent calls its provider directly */
  async routeOf(agent: RunnableAgent): Promise<ModelRoute | undefined> {
    const { organizationId, provider } = agent;
    const choice = await this.choiceOf(agent);
    switch (choice?.use) {
      case 'own':
        return this.gateways.routeVia(organizationId, provider, choice.gateway);
      case 'organization':
        return this.gateways.routeFor(organizationId, provider);
      case 'none':
      case undefined:
        return undefined;
      default:
        return choice satisfies never;
    }
  }

  private async choiceOf({ organizationId, id, aiGateway }: RunnableAgent): Promise<GatewayChoice | undefined> {
    if (aiGateway?.enabled) return this.own.get(id, () => this.unlock(organizationId, id));
    return aiGateway === null ? { use: 'organization' } : { use: 'none' };
  }

  /** Reads address and token together and from the database, so that no token is sent to an earlier address. */
  private async unlock(organizationId: string, agentId: string): Promise<GatewayChoice> {
    const own = (await this.agents.find(organizationId, agentId))?.settings.aiGateway ?? null;
    if (!own?.enabled) return { use: own ? 'none' : 'organization' };
    const { edgeAccountId, gatewayName } = own;
    const token = await this.vault.read(gatewayTokenOf(organizationId, agentId));
    return { use: 'own', gateway: { edgeAccountId, gatewayName, token } };
  }
}
