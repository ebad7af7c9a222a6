import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { AppCatalogue } from '../catalogue/app-catalogue.js';
import { haveSameServer, identityOf, type Integration, type IntegrationSettings } from '../domain/integration.js';
import { type IntegrationRequest, settingsAfter } from '../domain/integration-request.js';
import { IntegrationIdentityMismatch, IntegrationNotFound } from '../domain/integrations.errors.js';
import { IntegrationChanged } from '../domain/integrations.events.js';
import type { IntegrationWithState } from '../domain/tool-list.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { IntegrationStateRepository } from '../persistence/integration-state.repository.js';
import { CheckIntegration } from './check-integration.js';
import { IntegrationSecrets } from './integration-secrets.js';
import { RequireChangeable } from './require-changeable.js';

@Injectable()
export class ChangeIntegration {
  constructor(
    private readonly database: Database,
    private readonly integrations: IntegrationRepository,
    private readonly states: IntegrationStateRepository,
    private readonly requireChangeable: RequireChangeable,
    private readonly secrets: IntegrationSecrets,
    private readonly catalogue: AppCatalogue,
    private readonly checkIntegration: CheckIntegration,
    private readonly clock: Clock,
    private readonly events: EventBus,
  ) {}

  /**
   * Replaces the integration for every agent that uses it, and checks its server, unless the request changes nothing.
   * @throws IntegrationNotFound, ForbiddenByAgentAllowlist, IntegrationIdentityMismatch, ValidationFailed
   */
  async execute(
    caller: ApiKeyPrincipal,
    agentId: string,
    id: string,
    request: IntegrationRequest,
  ): Promise<IntegrationWithState> {
    const { organizationId } = caller;
    const { integration, isChanged, agentIds } = await this.database.transaction(async (transaction) => {
      const current = await this.integrations.lock(transaction, organizationId, id);
      if (!current) throw new IntegrationNotFound();
      const agentIds = await this.requireChangeable.execute(caller, agentId, id, transaction);
      requireSameIdentity(current.settings, request.settings);
      // After the identity check: the rules of another app would not help the caller.
      this.catalogue.requireValid(request);
      return { ...(await this.change(transaction, current, request)), agentIds };
    });
    if (!isChanged) return { integration, state: await this.states.find(organizationId, id) };
    this.events.publish(new IntegrationChanged(organizationId, id, agentIds));
    return { integration, state: await this.checkIntegration.executeAfterWrite(integration) };
  }

  private async change(
    transaction: Transaction,
    current: Integration,
    request: IntegrationRequest,
  ): Promise<{ readonly integration: Integration; readonly isChanged: boolean }> {
    const settings = settingsAfter(request, current.settings);
    const { excludedTools } = request;
    const hasNewSecrets = await this.secrets.replace(transaction, current, request, settings);
    const isSame =
      isDeepStrictEqual(settings, current.settings) && isDeepStrictEqual(excludedTools, current.excludedTools);
    if (isSame && !hasNewSecrets) return { integration: current, isChanged: false };
    const revision = current.revision + 1;
    const integration = { ...current, settings, excludedTools, revision, updatedAt: this.clock.now() };
    await this.integrations.update(transaction, integration);
    if (!haveSameServer(settings, current.settings)) await this.states.remove(transaction, integration);
    return { integration, isChanged: true };
  }
}

function requireSameIdentity(current: IntegrationSettings, requested: IntegrationSettings): void {
  if (requested.type !== current.type) throw new IntegrationIdentityMismatch('type', current.type);
  const field = current.type === 'workflow-platform' ? 'nameSlug' : 'app';
  const identity = identityOf(current);
  if (identityOf(requested) !== identity) throw new IntegrationIdentityMismatch(field, identity);
}
