import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { ForbiddenByAgentAllowlist, mayUseAgent, type ApiKeyPrincipal } from '../../access/index.js';
import { AgentNotFound } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { newId } from '../../platform/ids/index.js';
import { agree, identityOf, type Integration } from '../domain/integration.js';
import type { IntegrationRequest } from '../domain/integration-request.js';
import { IntegrationExists, TooManyIntegrations } from '../domain/integrations.errors.js';
import { IntegrationChanged } from '../domain/integrations.events.js';
import { MAX_INTEGRATIONS_PER_AGENT } from '../limits.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { IntegrationStateRepository } from '../persistence/integration-state.repository.js';
import { CheckAfterWrite } from './check-after-write.js';
import { CheckApp } from './check-app.js';
import { IntegrationSecrets } from './integration-secrets.js';
import type { IntegrationWithState } from './integration-with-state.js';

const SIGNED_IN_FOR_OTHERS =
  'The integration is signed in to for agents that this key may not use; only a key for all of them can attach it.';

interface Attached {
  readonly integration: Integration;
  readonly isNew: boolean;
  /** All that use it now. */
  readonly agentIds: readonly string[];
}

@Injectable()
export class CreateIntegration {
  constructor(
    private readonly database: Database,
    private readonly integrations: IntegrationRepository,
    private readonly states: IntegrationStateRepository,
    private readonly secrets: IntegrationSecrets,
    private readonly checkApp: CheckApp,
    private readonly checkAfterWrite: CheckAfterWrite,
    private readonly clock: Clock,
    private readonly events: EventBus,
  ) {}

  /**
   * Makes the integration and asks its server for its tools, or attaches the one that the organization has, where that
   * is as the request describes it.
   * @throws ValidationFailed, AgentNotFound, IntegrationExists, ForbiddenByAgentAllowlist, TooManyIntegrations
   */
  async execute(caller: ApiKeyPrincipal, agentId: string, request: IntegrationRequest): Promise<IntegrationWithState> {
    const { organizationId } = caller;
    this.checkApp.execute(request);
    const { integration, isNew, agentIds } = await this.database.transaction(async (transaction) => {
      if (!(await this.integrations.lockAgent(transaction, organizationId, agentId))) throw new AgentNotFound();
      const attached = await this.attach(transaction, caller, agentId, request);
      await this.requireRoom(transaction, organizationId, agentId);
      return attached;
    });
    this.events.publish(new IntegrationChanged(organizationId, integration.id, agentIds));
    if (isNew) return { integration, state: await this.checkAfterWrite.execute(integration) };
    return { integration, state: await this.states.find(organizationId, integration.id) };
  }

  private async attach(
    transaction: Transaction,
    caller: ApiKeyPrincipal,
    agentId: string,
    request: IntegrationRequest,
  ): Promise<Attached> {
    const { organizationId } = caller;
    const now = this.clock.now();
    const { settings, excludedTools } = request;
    const wanted = {
      id: newId(),
      organizationId,
      settings,
      excludedTools,
      revision: 1,
      createdAt: now,
      updatedAt: now,
    };
    let integration = await this.integrations.insertOrLock(transaction, wanted, agentId);
    const agentIds = await this.integrations.agentsOf(transaction, organizationId, integration.id);
    if (integration.id !== wanted.id && agentIds.length === 0) {
      integration = await this.replaceUnused(transaction, integration, wanted, agentId);
    }
    const isNew = integration.id === wanted.id;
    if (isNew) await this.secrets.store(transaction, integration, request.newSecrets);
    else {
      await this.requireSame(transaction, integration, agentIds.includes(agentId), request);
      requireSignInOfOwn(caller, integration, agentIds);
    }
    await this.integrations.attach(transaction, integration, agentId, now);
    return { integration, isNew, agentIds: [...agentIds, agentId] };
  }

  /** Only agents that are gone have used it; what they left behind is not for whoever comes next. */
  private async replaceUnused(
    transaction: Transaction,
    unused: Integration,
    wanted: Integration,
    agentId: string,
  ): Promise<Integration> {
    await this.secrets.removeAll(transaction, unused);
    await this.integrations.remove(transaction, unused.organizationId, unused.id);
    return this.integrations.insertOrLock(transaction, wanted, agentId);
  }

  private async requireSame(
    transaction: Transaction,
    integration: Integration,
    isAttached: boolean,
    request: IntegrationRequest,
  ): Promise<void> {
    const identity = identityOf(integration.settings);
    if (isAttached) throw IntegrationExists.onAgent(identity);
    const isSame =
      agree(integration.settings, request.settings) &&
      isDeepStrictEqual(integration.excludedTools, request.excludedTools) &&
      (await this.secrets.agree(transaction, integration, request.newSecrets));
    if (!isSame) throw IntegrationExists.otherwise(identity);
  }

  private async requireRoom(transaction: Transaction, organizationId: string, agentId: string): Promise<void> {
    const count = await this.integrations.countOfAgent(transaction, organizationId, agentId);
    if (count > MAX_INTEGRATIONS_PER_AGENT) throw new TooManyIntegrations();
  }
}

/** Whoever attaches an integration uses its sign-in, which no request can name as it names other secrets. */
function requireSignInOfOwn(caller: ApiKeyPrincipal, { settings }: Integration, agentIds: readonly string[]): void {
  if (settings.type !== 'custom-mcp' || settings.auth.type !== 'oauth') return;
  if (!agentIds.every((id) => mayUseAgent(caller, id))) throw new ForbiddenByAgentAllowlist(SIGNED_IN_FOR_OTHERS);
}
