import { Injectable } from '@nestjs/common';
import type { OrganizationView } from '../../access/index.js';
import type { Transaction } from '../../platform/database/index.js';
import { Vault } from '../../platform/vault/index.js';
import type { Agent } from '../domain/agent.js';
import { agentSnapshot, type AgentSnapshot } from '../domain/agent-settings.js';
import { VersionNotFound, VersionNotRestorable } from '../domain/agents.errors.js';
import type { FieldChange } from '../domain/agent-version.js';
import { restorable } from '../domain/withdrawn-settings.js';
import { AgentVersionsRepository } from '../persistence/agent-versions.repository.js';
import { gatewayTokenOf } from './agent-secrets.js';
import { CATALOGUE_CHOICES } from './catalogue-choices.js';
import { PlanLimits, requireProvider } from './plan-limits.js';
import { VersionedParts } from './versioned-parts.js';
import { VersionedWrite, type WriteTarget } from './versioned-write.js';

@Injectable()
export class RestoreVersion {
  constructor(
    private readonly writes: VersionedWrite,
    private readonly versions: AgentVersionsRepository,
    private readonly parts: VersionedParts,
    private readonly planLimits: PlanLimits,
    private readonly vault: Vault,
  ) {}

  /**
   * Restores the agent and its parts in other contexts to a version. That creates a new version, unless nothing differs. Secrets,
   * and settings that the plan does not include, are kept.
   * @throws AgentNotFound, AgentRefused, VersionNotFound, VersionConflict, VersionNotRestorable
   */
  async execute(target: WriteTarget, version: number): Promise<Agent> {
    // Before the transaction, which must await nothing but its own statements.
    const organization = await this.planLimits.of(target.organizationId);
    const { agent } = await this.writes.run(target, async (transaction, agent) => {
      requireProvider(organization, agent.settings.provider.options.type);
      const parts = await this.versions.partsAt(transaction, agent, version);
      if (!parts) throw new VersionNotFound();
      const changes = await this.restoreAgent(transaction, agent, parts.read('agent', agentSnapshot), organization);
      for (const part of this.parts.all()) {
        const snapshot = parts.read(part.field, part.stored);
        changes.push(...(await part.restore(transaction, agent.organizationId, agent.id, snapshot)));
      }
      return { result: undefined, changes };
    });
    return agent;
  }

  private async restoreAgent(
    transaction: Transaction,
    agent: Agent,
    snapshot: AgentSnapshot | null,
    organization: OrganizationView,
  ): Promise<FieldChange[]> {
    if (!snapshot) return [];
    const settings = restorable(snapshot.settings, agent.settings, organization.features);
    const changes = agent.restore({ ...snapshot, settings }, CATALOGUE_CHOICES);
    if (settings.aiGateway?.enabled) await this.requireGatewayToken(transaction, agent);
    return changes;
  }

  private async requireGatewayToken(transaction: Transaction, agent: Agent): Promise<void> {
    const [token] = await this.vault.readMany([gatewayTokenOf(agent.organizationId, agent.id)], transaction);
    if (token !== undefined) return;
    throw new VersionNotRestorable(
      'it uses a gateway whose token is no longer stored; set aiGateway with its token first, then restore.',
    );
  }
}
