import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Settings } from '../config/index.js';
import { loadMasterKey } from './load-master-key.js';
import { MasterKey } from './master-key.js';
import { Vault } from './vault.js';

@Global()
@Module({})
export class VaultModule {
  /** @throws InvalidSetting when the master key is missing or damaged */
  static forRoot(settings: Settings): DynamicModule {
    return {
      module: VaultModule,
      providers: [{ provide: MasterKey, useValue: loadMasterKey(settings) }, Vault],
      exports: [Vault, MasterKey],
    };
  }
}
