import { Injectable } from '@nestjs/common';
import { Vault } from '../../platform/vault/index.js';
import type { Agent } from '../domain/agent.js';
import { AgentOnManagedKey } from '../domain/agents.errors.js';
import { secretChange } from '../domain/field-change.js';
import { providerKeyOf, replaceSecret } from './agent-secrets.js';
import { VersionedWrite, type WriteTarget } from './versioned-write.js';

@Injectable()
export class RotateProviderKey {
  constructor(
    private readonly writes: VersionedWrite,
    private readonly vault: Vault,
  ) {}

  /**
   * Replaces the key of an agent that runs on its own; the key it has already is no change.
   * @throws AgentNotFound, VersionConflict, AgentOnManagedKey
   */
  async execute(target: WriteTarget, apiKey: string): Promise<Agent> {
    const { agent } = await this.writes.run(target, async (transaction, agent) => {
      if (!agent.settings.provider.useOwnApiKey) throw new AgentOnManagedKey();
      const ref = providerKeyOf(agent.organizationId, agent.id);
      const replaced = await replaceSecret(this.vault, transaction, ref, apiKey);
      return { result: undefined, changes: replaced ? [secretChange('provider.apiKey')] : [] };
    });
    return agent;
  }
}
