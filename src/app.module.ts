import { type DynamicModule, Global, Module, type Type } from '@nestjs/common';
import { accessCommands, AccessModule, accessSchema } from './access/index.js';
import { agentCommands, AgentsModule, agentsSchema } from './agents/index.js';
import { ConversationsModule, conversationsSchema, type RunExtensions } from './conversations/index.js';
import { DemoModule } from './demo/index.js';
import { FilesModule, filesSchema } from './files/index.js';
import { InstructionsModule, instructionsSchema, SectionsPromptSource } from './instructions/index.js';
import { GatewaysModule, ModelsModule, modelsSchema } from './models/index.js';
import { ObservabilityModule, RecordTrace, tracesSchema } from './observability/index.js';
import { Clock } from './platform/clock/index.js';
import { Settings } from './platform/config/index.js';
import { CursorsModule } from './platform/cursors/index.js';
import { type ContextSchema, DatabaseModule, type OpenDatabase } from './platform/database/index.js';
import { EgressModule } from './platform/egress/index.js';
import { EventsModule } from './platform/events/index.js';
import { FileStoreModule } from './platform/files/index.js';
import { HttpModule } from './platform/http/index.js';
import { jobCommands, JobsModule, jobsSchema } from './platform/jobs/index.js';
import { LifecycleModule } from './platform/lifecycle/index.js';
import { LimitsModule } from './platform/limits/index.js';
import {
  migrateCommand,
  type OperatorCommand,
  type OperatorKernel,
  rotateSecretsCommand,
} from './platform/operator/index.js';
import { RunLogModule } from './platform/run-log/index.js';
import { type Logger, TelemetryModule } from './platform/telemetry/index.js';
import { type RotateSecrets, VaultModule, vaultSchema } from './platform/vault/index.js';

/** What the service keeps in its database: one line a context. */
export const schemas: readonly ContextSchema[] = [
  jobsSchema,
  vaultSchema,
  accessSchema,
  modelsSchema,
  agentsSchema,
  instructionsSchema,
  conversationsSchema,
  tracesSchema,
  filesSchema,
];

/** The operator's commands: one line a context that has some. */
export function operatorCommands(
  kernel: OperatorKernel,
  rotateSecrets: () => RotateSecrets,
): readonly OperatorCommand[] {
  return [
    migrateCommand(kernel),
    rotateSecretsCommand(rotateSecrets),
    ...accessCommands(kernel),
    ...agentCommands(kernel),
    ...jobCommands(kernel),
  ];
}

/** Who takes part in a run; a context that extends the agents' turns adds itself here. */
const participants: RunExtensions = {
  imports: [InstructionsModule, ObservabilityModule],
  promptSources: [SectionsPromptSource],
  toolSources: [],
  hooks: [],
  observers: [RecordTrace],
};

/** What a process is made of besides its contexts. */
export interface Kernel {
  readonly settings: Settings;
  readonly open: OpenDatabase;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Further participants, asked after the service's own. */
  readonly extensions?: Partial<RunExtensions>;
}

@Module({})
export class AppModule {
  static forRoot({ settings, open, clock, logger, extensions }: Kernel): DynamicModule {
    return {
      module: AppModule,
      imports: [
        KernelModule.forRoot(settings, clock),
        TelemetryModule.forRoot(settings, logger),
        DatabaseModule.forRoot(open),
        EventsModule,
        LifecycleModule,
        LimitsModule.forRoot(settings, clock),
        RunLogModule,
        VaultModule.forRoot(settings),
        CursorsModule,
        EgressModule.forRoot(settings, clock),
        FileStoreModule.forRoot(settings),
        JobsModule.forRoot(settings),
        HttpModule,
        AccessModule,
        ModelsModule,
        GatewaysModule,
        AgentsModule,
        InstructionsModule,
        ConversationsModule.forRoot(extended(extensions)),
        ObservabilityModule,
        FilesModule,
        ...(settings.demo ? [DemoModule] : []),
      ],
    };
  }
}

/** Settings and clock, for everyone. */
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

function extended(extensions: Partial<RunExtensions> = {}): RunExtensions {
  const both = <Item>(own: readonly Item[], added: readonly Item[] = []): readonly Item[] => [...own, ...added];
  return {
    imports: both<Type | DynamicModule>(participants.imports, extensions.imports),
    promptSources: both(participants.promptSources, extensions.promptSources),
    toolSources: both(participants.toolSources, extensions.toolSources),
    hooks: both(participants.hooks, extensions.hooks),
    observers: both(participants.observers, extensions.observers),
  };
}
