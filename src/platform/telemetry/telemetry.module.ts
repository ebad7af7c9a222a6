import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Settings } from '../config/index.js';
import { Logger } from './logger.js';
import { createLogger } from './pino-logger.js';

@Global()
@Module({})
export class TelemetryModule {
  /** Provides `Logger` to all modules. */
  static forRoot(settings: Settings, logger: Logger = createLogger(settings)): DynamicModule {
    return {
      module: TelemetryModule,
      providers: [{ provide: Logger, useValue: logger }],
      exports: [Logger],
    };
  }
}
