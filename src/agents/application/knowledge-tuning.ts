import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../access/index.js';
import { inEffect } from '../domain/withdrawn-settings.js';
import type { RunnableAgent } from './agent-directory.js';

/** How searches in an agent's knowledge are tuned: by the defaults where the organization does not have the feature. */
@Injectable()
export class KnowledgeTuning {
  constructor(private readonly organizations: OrganizationDirectory) {}

  async of(agent: RunnableAgent): Promise<Pick<RunnableAgent, 'knowledgeSearch' | 'scoreThresholdSet'>> {
    const organization = await this.organizations.find(agent.organizationId);
    return inEffect(agent, organization?.features ?? new Set());
  }
}
