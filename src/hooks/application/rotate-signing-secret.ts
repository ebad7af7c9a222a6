import { Injectable } from '@nestjs/common';
import { AgentWrites, secretChange, type WriteTarget } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { newSigningSecret, rotatedSecret } from '../../platform/standard-webhooks/index.js';
import { AgentHooksRepository, NO_HOOKS } from '../persistence/agent-hooks.repository.js';
import { HookSecretStore } from './hook-secrets.js';

export interface RotatedSecret {
  /** Shown only in this response. */
  readonly secret: string;
  readonly createdAt: Date;
}

@Injectable()
export class RotateSigningSecret {
  constructor(
    private readonly writes: AgentWrites,
    private readonly settings: AgentHooksRepository,
    private readonly secrets: HookSecretStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates a new signing secret for http handlers. The previous secret also signs for 24 hours; older ones stop signing.
   * @throws AgentNotFound, VersionConflict
   */
  async execute(target: WriteTarget): Promise<RotatedSecret> {
    const secret = newSigningSecret();
    const createdAt = this.clock.now();
    await this.writes.change(target, async (transaction) => {
      const current = (await this.settings.find(transaction, target)) ?? NO_HOOKS;
      const signing = await this.secrets.readableSigning(target, transaction);
      await this.settings.store(transaction, target, { ...current, secretCreatedAt: createdAt });
      await this.secrets.storeSigning(transaction, target, rotatedSecret(signing, secret, createdAt));
      return { result: undefined, changes: [secretChange('hooks.signingSecret')] };
    });
    return { secret, createdAt };
  }
}
