import { Injectable } from '@nestjs/common';
import { OrganizationDirectory, ResourceLookup, ResourceLookups } from '../../access/index.js';
import { AgentDirectory, type CurrentAgent } from '../../agents/index.js';
import { providerOf } from '../../models/index.js';
import { AgentWithSectionsNotFound } from '../domain/instructions.errors.js';

/** A resource kind for the sections' routes, because their error for an absent agent differs from that of other routes. */
export const SECTIONS_AGENT = 'sections-agent';

/**
 * The access guard's lookup of `{agentId}` on the sections' routes. Agents that cannot have sections count as absent. It reads
 * the database, because the version becomes the ETag of sections that are read later.
 */
@Injectable()
export class SectionsAgentLookup extends ResourceLookup<CurrentAgent> {
  override readonly kind = SECTIONS_AGENT;

  constructor(
    private readonly agents: AgentDirectory,
    private readonly organizations: OrganizationDirectory,
    lookups: ResourceLookups,
  ) {
    super();
    lookups.register(this);
  }

  async find(organizationId: string, id: string): Promise<CurrentAgent | null> {
    const agent = await this.agents.current(organizationId, id);
    return agent && (await this.hasSections(organizationId, agent)) ? agent : null;
  }

  absent(): AgentWithSectionsNotFound {
    return new AgentWithSectionsNotFound();
  }

  private async hasSections(organizationId: string, { type }: CurrentAgent): Promise<boolean> {
    if (type === 'classic') return false;
    const { feature } = providerOf(type);
    if (feature === undefined) return true;
    const organization = await this.organizations.find(organizationId);
    return organization?.features.has(feature) ?? false;
  }
}
