import { type DynamicModule, Global, Module } from '@nestjs/common';
import { accessContext } from './access/index.js';
import { agentsContext } from './agents/index.js';
import { conversationsContext, type RunExtensions, RunExtensionsModule } from './conversations/index.js';
import { creditsContext } from './credits/index.js';
import { demoContext } from './demo/index.js';
import { filesContext } from './files/index.js';
import { hooksContext } from './hooks/index.js';
import { instructionsContext } from './instructions/index.js';
import { integrationsContext } from './integrations/index.js';
import { knowledgeContext } from './knowledge/index.js';
import { memoryContext } from './memory/index.js';
import { modelsContext } from './models/index.js';
import { observabilityContext } from './observability/index.js';
import { Clock } from './platform/clock/index.js';
import { Settings } from './platform/config/index.js';
import type { Context } from './platform/context/index.js';
import { CursorsModule } from './platform/cursors/index.js';
import { type ContextSchema, DatabaseModule, type OpenDatabase } from './platform/database/index.js';
import { EgressModule } from './platform/egress/index.js';
import { EventsModule } from './platform/events/index.js';
import { FileStoreModule } from './platform/files/index.js';
import { HttpModule, MetricsRouteModule } from './platform/http/index.js';
import { JobsModule, jobsSchema } from './platform/jobs/index.js';
import { LifecycleModule } from './platform/lifecycle/index.js';
import { LimitsModule } from './platform/limits/index.js';
import { MaintenanceModule } from './platform/maintenance/index.js';
import { MetricsModule } from './platform/metrics/index.js';
import { RunLogModule } from './platform/run-log/index.js';
import { SignalsModule } from './platform/signals/index.js';
import { type Logger, TelemetryModule } from './platform/telemetry/index.js';
import { VaultModule, vaultSchema } from './platform/vault/index.js';
import { responseComponentsContext } from './response-components/index.js';
import { sessionsContext } from './sessions/index.js';
import { webhooksContext } from './webhooks/index.js';

/** A context that may add to the runs of agents. */
export type AppContext = Context<RunExtensions>;

/** The contexts of the service. Their contributions to a run are collected in this order. */
export const contexts: readonly AppContext[] = [
  accessContext,
  modelsContext,
  agentsContext,
  instructionsContext,
  conversationsContext,
  integrationsContext,
  knowledgeContext,
  hooksContext,
  responseComponentsContext,
  memoryContext,
  observabilityContext,
  creditsContext,
  filesContext,
  sessionsContext,
  webhooksContext,
  demoContext,
];

/** The tables of the platform and of these contexts. */
export function schemasOf(parts: readonly AppContext[]): readonly ContextSchema[] {
  return [jobsSchema, vaultSchema, ...parts.flatMap(({ schema }) => (schema ? [schema] : []))];
}

/** The parts of a process besides its contexts. */
export interface Kernel {
  readonly settings: Settings;
  readonly open: OpenDatabase;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Further contexts, after the service's own. */
  readonly extensions?: readonly AppContext[];
}

@Module({})
export class AppModule {
  static forRoot({ settings, open, clock, logger, extensions = [] }: Kernel): DynamicModule {
    const parts = [...contexts, ...extensions].filter(({ enabled }) => enabled?.(settings) ?? true);
    const modules = parts.flatMap((part) => part.modules);
    return {
      module: AppModule,
      imports: [
        KernelModule.forRoot(settings, clock),
        TelemetryModule.forRoot(settings, logger),
        MetricsModule,
        DatabaseModule.forRoot(open),
        EventsModule,
        LifecycleModule,
        LimitsModule.forRoot(settings, clock),
        RunLogModule,
        SignalsModule,
        VaultModule.forRoot(settings),
        CursorsModule,
        EgressModule.forRoot(settings, clock),
        FileStoreModule.forRoot(settings),
        JobsModule.forRoot(settings),
        HttpModule,
        ...(settings.metricsPort === undefined ? [MetricsRouteModule] : []),
        MaintenanceModule,
        RunExtensionsModule.forRoot(parts),
        ...modules,
      ],
      providers: parts.flatMap(({ healthChecks = [] }) => [...healthChecks]),
    };
  }
}

/** Provides settings and clock to all modules. */
@Global()
@Module({})
class KernelModule {
  static forRoot(settings: Settings, clock: Clock): DynamicModule {
    return {
      module: KernelModule,
      providers: [
        { provide: Settings, useValue: settings },
        { provide: Clock, useValue: clock },
      ],
      exports: [Settings, Clock],
    };
  }
}
