import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/database/index.js';
import { Vault } from '../../platform/vault/index.js';
import type { Agent, AgentChange } from '../domain/agent.js';
import { type FieldChange, secretChange } from '../domain/agent-version.js';
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
   * Applies all fields of the request, or none. Changes of one agent are serialized, so two requests with different fields both
   * take effect.
   * @throws AgentNotFound, VersionConflict, ValidationFailed, AgentRefused, GatewayNotPermitted,
   *   UnsupportedForAgentType
   */
  async execute(target: WriteTarget, change: AgentChange): Promise<Agent> {
    // Before the transaction, which must await nothing but its own statements.
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

  /** Runs after `agent.change`, which refuses a key that the agent cannot have. @returns the change of the key, if any */
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

  /** @returns the change of the token, if any: the settings do not contain the token */
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
