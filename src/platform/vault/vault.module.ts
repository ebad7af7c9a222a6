import { type DynamicModule, Global, Module, type OnApplicationBootstrap } from '@nestjs/common';
import type { Settings } from '../config/index.js';
import { ShutdownState } from '../lifecycle/index.js';
import { Logger } from '../telemetry/index.js';
import { MasterKeys } from './master-keys.js';
import { RotateSecrets } from './rotate-secrets.js';
import { Vault } from './vault.js';

/** Refuses a start with a wrong master key, completes an interrupted rotation, and interrupts a running one when the process stops. */
@Global()
@Module({})
export class VaultModule implements OnApplicationBootstrap {
  constructor(
    private readonly masterKeys: MasterKeys,
    private readonly rotateSecrets: RotateSecrets,
    private readonly shutdown: ShutdownState,
    private readonly logger: Logger,
  ) {}

  /** @throws InvalidSetting if a master key is missing or damaged */
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: VaultModule,
      providers: [{ provide: MasterKeys, useValue: MasterKeys.load(settings) }, Vault, RotateSecrets],
      exports: [Vault, MasterKeys, RotateSecrets],
    };
  }

  /** @throws InvalidSetting if the master key is not that of the stored secrets */
  async onApplicationBootstrap(): Promise<void> {
    await this.rotateSecrets.requireRightKey();
    this.shutdown.register({
      name: 'secrets',
      idle: () => this.rotateSecrets.stop(),
      abort: () => Promise.resolve(),
    });
    if (this.masterKeys.isRotating) void this.resume();
  }

  /** In the background, because secrets of either key can be read. */
  private async resume(): Promise<void> {
    try {
      this.logger.info({ ...(await this.rotateSecrets.execute()) }, 'An interrupted rotation of secrets was completed');
    } catch (error) {
      this.logger.warn({ err: error }, 'An interrupted rotation of secrets could not be completed');
    }
  }
}
