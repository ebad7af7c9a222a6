import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { ForbiddenByAgentAllowlist, mayUseAgent, type ApiKeyPrincipal } from '../../access/index.js';
import { AgentNotFound, lockAgent } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { newId } from '../../platform/ids/index.js';
import { AppCatalogue } from '../catalogue/app-catalogue.js';
import { agree, identityOf, type Integration } from '../domain/integration.js';
import type { IntegrationRequest } from '../domain/integration-request.js';
import { IntegrationExists, TooManyIntegrations } from '../domain/integrations.errors.js';
import { IntegrationChanged } from '../domain/integrations.events.js';
import type { IntegrationWithState } from '../domain/tool-list.js';
import { MAX_INTEGRATIONS_PER_AGENT } from '../limits.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { IntegrationStateRepository } from '../persistence/integration-state.repository.js';
import { CheckIntegration } from './check-integration.js';
import { IntegrationSecrets } from './integration-secrets.js';

const SIGNED_IN_FOR_OTHERS =
  "The integration has a sign-in that agents outside of this key's allowlist use; only a key for all of them can attach it.";

interface Attached {
  readonly integration: Integration;
  readonly isNew: boolean;
  /** All agents that use it, including the new one. */
  readonly agentIds: readonly string[];
}

@Injectable()
export class CreateIntegration {
  constructor(
    private readonly database: Database,
    private readonly integrations: IntegrationRepository,
    private readonly states: IntegrationStateRepository,
    private readonly secrets: IntegrationSecrets,
    private readonly catalogue: AppCatalogue,
    private readonly checkIntegration: CheckIntegration,
    private readonly clock: Clock,
    private readonly events: EventBus,
  ) {}

  /**
   * Creates the integration and checks its server, or attaches the organization's existing one if it agrees with the request.
   * @throws ValidationFailed, AgentNotFound, IntegrationExists, ForbiddenByAgentAllowlist, TooManyIntegrations
   */
  async execute(caller: ApiKeyPrincipal, agentId: string, request: IntegrationRequest): Promise<IntegrationWithState> {
    const { organizationId } = caller;
    this.catalogue.requireValid(request);
    const { integration, isNew, agentIds } = await this.database.transaction(async (transaction) => {
      if ((await lockAgent(transaction, organizationId, agentId, 'exclusive')) === null) throw new AgentNotFound();
      const attached = await this.attach(transaction, caller, agentId, request);
      await this.requireRoom(transaction, organizationId, agentId);
      return attached;
    });
    this.events.publish(new IntegrationChanged(organizationId, integration.id, agentIds));
    if (isNew) return { integration, state: await this.checkIntegration.executeAfterWrite(integration) };
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
    const created = { id: newId(), organizationId, revision: 1, createdAt: now, updatedAt: now };
    const wanted = { ...created, settings, excludedTools };
    let integration = await this.integrations.insertOrLock(transaction, wanted, agentId);
    const agentIds = await this.integrations.agentIdsOf(transaction, organizationId, integration.id);
    if (integration.id !== wanted.id && agentIds.length === 0) {
      integration = await this.replaceUnused(transaction, integration, wanted, agentId);
    }
    const isNew = integration.id === wanted.id;
    if (isNew) await this.secrets.store(transaction, integration, request.newSecrets);
    else {
      await this.requireSame(transaction, integration, agentIds.includes(agentId), request);
      requireAccessToSignIn(caller, integration, agentIds);
    }
    await this.integrations.attach(transaction, integration, agentId, now);
    return { integration, isNew, agentIds: [...agentIds, agentId] };
  }

  /** Only deleted agents used it. The new agent must not get its secrets. */
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
    if (!isSame) throw IntegrationExists.withOtherSettings(identity);
  }

  private async requireRoom(transaction: Transaction, organizationId: string, agentId: string): Promise<void> {
    const count = await this.integrations.countForAgent(transaction, organizationId, agentId);
    if (count > MAX_INTEGRATIONS_PER_AGENT) throw new TooManyIntegrations();
  }
}

/** An agent that attaches an integration uses its sign-in. Unlike other secrets, a sign-in cannot be sent in a request to prove access. */
function requireAccessToSignIn(caller: ApiKeyPrincipal, { settings }: Integration, agentIds: readonly string[]): void {
  if (settings.type !== 'custom-mcp' || settings.auth.type !== 'oauth') return;
  if (!agentIds.every((id) => mayUseAgent(caller, id))) throw new ForbiddenByAgentAllowlist(SIGNED_IN_FOR_OTHERS);
}
