import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { SIGNED_IN_WAIT_MS } from '../limits.js';
import { type AuthorizableIntegration, OAuthIntegrations, type ProtectedServer } from '../oauth/protected-server.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { atMost } from './at-most.js';
import { CheckWhenGrantChanges } from './check-when-grant-changes.js';
import { ProtectedServers } from './protected-servers.js';

/** The integrations that people sign in to, for the sign-in. */
@Injectable()
export class AuthorizableIntegrations extends OAuthIntegrations {
  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly servers: ProtectedServers,
    private readonly checks: CheckWhenGrantChanges,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    super();
  }

  async find(organizationId: string, agentId: string, id: string): Promise<AuthorizableIntegration | null> {
    const integration = await this.integrations.findForAgent(organizationId, agentId, id);
    if (!integration) return null;
    const agentIds = await this.integrations.agentsOf(this.database, organizationId, id);
    return { server: this.servers.of(integration), agentIds };
  }

  async serverOf(organizationId: string, integrationId: string): Promise<ProtectedServer | null> {
    const integration = await this.integrations.find(organizationId, integrationId);
    return integration && this.servers.of(integration);
  }

  signedIn(integrationId: string): Promise<void> {
    return atMost(this.clock, SIGNED_IN_WAIT_MS, this.checks.settled(integrationId));
  }
}
