import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../access/index.js';
import { inEffect } from '../domain/withdrawn-settings.js';
import type { RunnableAgent } from './agent-directory.js';

/** The tuning of searches in an agent's knowledge: the agent's own, or the defaults if the organization lacks the feature. */
@Injectable()
export class KnowledgeTuning {
  constructor(private readonly organizations: OrganizationDirectory) {}

  async of(agent: RunnableAgent): Promise<Pick<RunnableAgent, 'knowledgeSearch' | 'scoreThresholdSet'>> {
    const organization = await this.organizations.find(agent.organizationId);
    return inEffect(agent, organization?.features ?? new Set());
  }
}
