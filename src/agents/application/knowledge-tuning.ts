import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../access/index.js';
import { inEffect } from '../domain/withdrawn-settings.js';
import type { RunnableAgent } from './agent-directory.js';

/** The search settings in effect for an agent: its own, or the defaults when the organization lacks the feature. */
@Injectable()
export class KnowledgeTuning {
  constructor(private readonly organizations: OrganizationDirectory) {}

  async of(agent: RunnableAgent): Promise<Pick<RunnableAgent, 'knowledgeSearch' | 'scoreThresholdSet'>> {
    const organization = await this.organizations.find(agent.organizationId);
    return inEffect(agent, organization?.features ?? new Set());
  }
}
