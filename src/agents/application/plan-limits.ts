import { Injectable } from '@nestjs/common';
import { OrganizationDirectory, type OrganizationView } from '../../access/index.js';
import { GatewayNotPermitted, providerOf, type ProviderType } from '../../models/index.js';
import { AgentRefused } from '../domain/agents.errors.js';

/** The fields of a request that need a feature. Undefined fields were not sent; a null gateway, which removes it, needs none. */
export interface Gated {
  readonly aiGateway?: unknown;
  readonly knowledgeSearch?: unknown;
}

@Injectable()
export class PlanLimits {
  constructor(private readonly organizations: OrganizationDirectory) {}

  /** @throws GatewayNotPermitted, AgentRefused `knowledge_search_not_permitted` */
  async requirePermitted(organizationId: string, request: Gated): Promise<OrganizationView> {
    const organization = await this.of(organizationId);
    if (request.aiGateway !== undefined && request.aiGateway !== null && !organization.features.has('ai_gateway'))
      throw new GatewayNotPermitted();
    if (request.knowledgeSearch !== undefined && !organization.features.has('knowledge_search')) {
      throw new AgentRefused(
        'knowledge_search_not_permitted',
        'knowledgeSearch: this organization does not have the feature knowledge_search.',
      );
    }
    return organization;
  }

  async of(organizationId: string): Promise<OrganizationView> {
    const organization = await this.organizations.find(organizationId);
    if (!organization) throw new Error(`The caller's organization ${organizationId} does not exist`);
    return organization;
  }
}

/** @throws AgentRefused `<feature>_not_permitted` when the organization lacks the feature that the provider needs */
export function requireProvider({ features }: OrganizationView, type: ProviderType): void {
  const { feature } = providerOf(type);
  if (feature === undefined || features.has(feature)) return;
  throw new AgentRefused(
    `${feature}_not_permitted`,
    `provider.type: this organization does not have API access to the ${type} runtime.`,
  );
}
