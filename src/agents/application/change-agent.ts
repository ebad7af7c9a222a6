import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/index.js';
import { Vault } from '../../platform/vault/index.js';
import type { Agent, AgentChange } from '../domain/agent.js';
import { type FieldChange, secretChange } from '../domain/field-change.js';
import { gatewayTokenOf, providerKeyOf, replaceSecret } from './agent-secrets.js';
import { CATALOGUE_CHOICES } from './catalogue-choices.js';
import { PlanLimits, requireProvider } from './plan-limits.js';
import { VersionedWrite, type WriteTarget } from './versioned-write.js';

@Injectable()
export class ChangeAgent {
  constructor(
    private readonly writes: VersionedWrite,
    private readonly planLimits: PlanLimits,
    private readonly vault: Vault,
  ) {}

  /**
   * Applies the fields that were sent, all or none. Changes of one agent come one after the other, so
   * two that touch different fields both take effect.
   * @throws AgentNotFound, VersionConflict, ValidationFailed, AgentRefused, GatewayNotPermitted,
   *   UnsupportedForAgentType
   */
  async execute(target: WriteTarget, change: AgentChange): Promise<Agent> {
    // Before the transaction, in which nothing else may be awaited.
    const organization = await this.planLimits.requirePermitted(target.organizationId, change);
    const { agent } = await this.writes.run(target, async (transaction, agent) => {
      requireProvider(organization, agent.settings.provider.options.type);
      const token = await this.storeGatewayToken(transaction, agent, change);
      const changes = agent.change(change, CATALOGUE_CHOICES);
      return {
        result: undefined,
        changes: [...changes, ...(await this.storeKey(transaction, agent, change)), ...token],
      };
    });
    return agent;
  }

  /** As `storeGatewayToken`. The agent is changed by then, and takes the key. */
  private async storeKey(transaction: Transaction, agent: Agent, { provider }: AgentChange): Promise<FieldChange[]> {
    if (provider?.apiKey === undefined) return [];
    const replaced = await replaceSecret(
      this.vault,
      transaction,
      providerKeyOf(agent.organizationId, agent.id),
      provider.apiKey,
    );
    return replaced ? [secretChange('provider.apiKey')] : [];
  }

  /** @returns the change of the token, which the rest of the settings cannot tell */
  private async storeGatewayToken(
    transaction: Transaction,
    agent: Agent,
    { aiGateway }: AgentChange,
  ): Promise<FieldChange[]> {
    if (aiGateway === undefined) return [];
    const ref = gatewayTokenOf(agent.organizationId, agent.id);
    if (!aiGateway?.enabled) {
      await this.vault.remove(transaction, [ref]);
      return [];
    }
    const replaced = await replaceSecret(this.vault, transaction, ref, aiGateway.edgeApiToken);
    return replaced ? [secretChange('aiGateway.edgeApiToken')] : [];
  }
}
