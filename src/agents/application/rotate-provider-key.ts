import { Injectable } from '@nestjs/common';
import { Vault } from '../../platform/vault/index.js';
import type { Agent } from '../domain/agent.js';
import { AgentOnManagedKey } from '../domain/agents.errors.js';
import { requireKeyOf } from '../domain/provider-settings.js';
import { secretChange } from '../domain/agent-version.js';
import { providerKeyOf, replaceSecret } from './agent-secrets.js';
import { VersionedWrite, type WriteTarget } from './versioned-write.js';

@Injectable()
export class RotateProviderKey {
  constructor(
    private readonly writes: VersionedWrite,
    private readonly vault: Vault,
  ) {}

  /**
   * Replaces the key of an agent with an own key. The stored key sent again changes nothing.
   * @throws AgentNotFound, VersionConflict, AgentOnManagedKey, ValidationFailed for a key of another provider
   */
  async execute(target: WriteTarget, apiKey: string): Promise<Agent> {
    const { agent } = await this.writes.run(target, async (transaction, agent) => {
      const { options, model, useOwnApiKey } = agent.settings.provider;
      if (!useOwnApiKey) throw new AgentOnManagedKey();
      requireKeyOf(options.type, model, apiKey, 'body/apiKey');
      const ref = providerKeyOf(agent.organizationId, agent.id);
      const replaced = await replaceSecret(this.vault, transaction, ref, apiKey);
      return { result: undefined, changes: replaced ? [secretChange('provider.apiKey')] : [] };
    });
    return agent;
  }
}
