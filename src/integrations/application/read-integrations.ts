import { Injectable } from '@nestjs/common';
import { IntegrationNotFound } from '../domain/integrations.errors.js';
import type { IntegrationWithState } from '../domain/tool-list.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { IntegrationStateRepository } from '../persistence/integration-state.repository.js';

/** Integrations whose overviews one statement reads: parsing a larger result would block the event loop. */
const READ_AT_ONCE = 10;

@Injectable()
export class ReadIntegrations {
  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly states: IntegrationStateRepository,
  ) {}

  /** In the order of attachment. */
  async list(organizationId: string, agentId: string): Promise<IntegrationWithState[]> {
    const integrations = await this.integrations.listForAgent(organizationId, agentId);
    const read: IntegrationWithState[] = [];
    for (let from = 0; from < integrations.length; from += READ_AT_ONCE) {
      const some = integrations.slice(from, from + READ_AT_ONCE);
      const states = await this.states.overviews(
        organizationId,
        some.map(({ id }) => id),
      );
      read.push(...some.map((integration) => ({ integration, state: states.get(integration.id) ?? null })));
    }
    return read;
  }

  /** @throws IntegrationNotFound */
  async find(organizationId: string, agentId: string, id: string): Promise<IntegrationWithState> {
    const integration = await this.integrations.findForAgent(organizationId, agentId, id);
    if (!integration) throw new IntegrationNotFound();
    const states = await this.states.overviews(organizationId, [id]);
    return { integration, state: states.get(id) ?? null };
  }
}
