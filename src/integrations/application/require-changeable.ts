import { Injectable } from '@nestjs/common';
import { ForbiddenByAgentAllowlist, mayUseAgent, type ApiKeyPrincipal } from '../../access/index.js';
import { Database, type SqlExecutor } from '../../platform/database/index.js';
import { IntegrationNotFound } from '../domain/integrations.errors.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';

const NOT_FOR_OTHERS =
  "Other agents use this integration too, and not all of them are on this API key's allowlist; it can be removed from " +
  'this agent, but not changed.';

/** What one agent changes about an integration, a sign-in included, counts for all that use it. */
@Injectable()
export class RequireChangeable {
  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly database: Database,
  ) {}

  /**
   * @returns all agents that use it
   * @throws IntegrationNotFound, ForbiddenByAgentAllowlist
   */
  async execute(
    caller: ApiKeyPrincipal,
    agentId: string,
    id: string,
    source: SqlExecutor = this.database,
  ): Promise<readonly string[]> {
    const agentIds = await this.integrations.agentsOf(source, caller.organizationId, id);
    if (!agentIds.includes(agentId)) throw new IntegrationNotFound();
    if (!agentIds.every((each) => mayUseAgent(caller, each))) throw new ForbiddenByAgentAllowlist(NOT_FOR_OTHERS);
    return agentIds;
  }
}
