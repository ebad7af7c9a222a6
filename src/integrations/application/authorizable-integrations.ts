import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { IntegrationNotFound } from '../domain/integrations.errors.js';
import { SIGNED_IN_WAIT_MS } from '../limits.js';
import { OAuthIntegrations, type ProtectedServer } from '../oauth/protected-server.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { waitAtMost } from './wait-at-most.js';
import { CheckWhenGrantChanges } from './check-when-grant-changes.js';
import { ProtectedServers } from './protected-servers.js';
import { RequireChangeable } from './require-changeable.js';

/** Gives the OAuth sign-in the servers of integrations. */
@Injectable()
export class AuthorizableIntegrations extends OAuthIntegrations {
  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly servers: ProtectedServers,
    private readonly checks: CheckWhenGrantChanges,
    private readonly requireChangeable: RequireChangeable,
    private readonly clock: Clock,
  ) {
    super();
  }

  async changeableBy(caller: ApiKeyPrincipal, agentId: string, id: string): Promise<ProtectedServer | null> {
    await this.requireChangeable.execute(caller, agentId, id);
    const integration = await this.integrations.findForAgent(caller.organizationId, agentId, id);
    if (!integration) throw new IntegrationNotFound();
    return this.servers.of(integration);
  }

  async serverOf(organizationId: string, integrationId: string): Promise<ProtectedServer | null> {
    const integration = await this.integrations.find(organizationId, integrationId);
    return integration && this.servers.of(integration);
  }

  signedIn(integrationId: string): Promise<void> {
    return waitAtMost(this.clock, SIGNED_IN_WAIT_MS, this.checks.settled(integrationId));
  }
}
