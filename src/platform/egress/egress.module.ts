import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Clock } from '../clock/index.js';
import type { Settings } from '../config/index.js';
import { SystemNameResolver } from './name-resolver.js';
import { SafeHttp } from './safe-http.js';
import { UndiciSafeHttp } from './undici-safe-http.js';

@Global()
@Module({})
export class EgressModule {
  /** Provides `SafeHttp`. */
  static forRoot(settings: Settings, clock: Clock): DynamicModule {
    const create = (): SafeHttp =>
      new UndiciSafeHttp({ exemptions: settings.egressAllow, resolver: new SystemNameResolver(), clock });
    return { module: EgressModule, providers: [{ provide: SafeHttp, useFactory: create }], exports: [SafeHttp] };
  }
}
