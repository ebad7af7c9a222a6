import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Clock } from '../clock/index.js';
import type { Settings } from '../config/index.js';
import { SystemNameResolver } from './name-resolver.js';
import { OperatorHttp } from './operator-http.js';
import { SafeHttp } from './safe-http.js';
import { type Exemptions, exemptionOf } from './target.js';
import { UndiciSafeHttp } from './undici-safe-http.js';

const OPERATOR_CLIENT = Symbol('operator client');

@Global()
@Module({})
export class EgressModule {
  static forRoot(settings: Settings, clock: Clock): DynamicModule {
    const hosts = operatorHosts(settings);
    const client = (exemptions: Exemptions) => (): UndiciSafeHttp =>
      new UndiciSafeHttp({ exemptions, resolver: new SystemNameResolver(), clock });
    return {
      module: EgressModule,
      providers: [
        { provide: SafeHttp, useFactory: client(settings.egressAllow) },
        { provide: OPERATOR_CLIENT, useFactory: client(hosts) },
        {
          provide: OperatorHttp,
          useFactory: (http: SafeHttp) => new OperatorHttp(http, hosts),
          inject: [OPERATOR_CLIENT],
        },
      ],
      exports: [SafeHttp, OperatorHttp],
    };
  }
}

function operatorHosts({ workflowPlatform, drive }: Settings): Exemptions {
  const urls = [drive.apiBaseUrl, drive.tokenUrl, ...(workflowPlatform ? [workflowPlatform.url] : [])];
  return new Set(urls.map((url) => exemptionOf(new URL(url))));
}
