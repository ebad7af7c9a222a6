import { Injectable } from '@nestjs/common';
import { ForbiddenByAgentAllowlist, mayUseAgent, type ApiKeyPrincipal } from '../../access/index.js';
import { Database, type SqlExecutor } from '../../platform/database/index.js';
import { IntegrationNotFound } from '../domain/integrations.errors.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';

const USED_BY_OTHERS =
  "Other agents use this integration too, and not all of them are on this API key's allowlist; it can be removed from " +
  'this agent, but not changed.';

/** A change of an integration, or a sign-in, affects all agents that use it, so the caller needs access to all of them. */
@Injectable()
export class RequireChangeable {
  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly database: Database,
  ) {}

  /**
   * @returns the ids of all agents that use it
   * @throws IntegrationNotFound, ForbiddenByAgentAllowlist
   */
  async execute(
    caller: ApiKeyPrincipal,
    agentId: string,
    id: string,
    source: SqlExecutor = this.database,
  ): Promise<readonly string[]> {
    const agentIds = await this.integrations.agentIdsOf(source, caller.organizationId, id);
    if (!agentIds.includes(agentId)) throw new IntegrationNotFound();
    if (!agentIds.every((each) => mayUseAgent(caller, each))) throw new ForbiddenByAgentAllowlist(USED_BY_OTHERS);
    return agentIds;
  }
}
