import { type DynamicModule, Module, type OnModuleInit, type Type } from '@nestjs/common';
import { AccessModule, ResourceLookups } from '../access/index.js';
import { AgentsModule } from '../agents/index.js';
import { FilesModule } from '../files/index.js';
import { ModelsModule } from '../models/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { Draining } from '../platform/lifecycle/index.js';
import { AcceptAttachments } from './application/accept-attachments.js';
import { CancelRun } from './application/cancel-run.js';
import { CancelRunsWhenAgentDeleted } from './application/cancel-runs-when-agent-deleted.js';
import { CompleteChat } from './application/complete-chat.js';
import { CreateThread } from './application/create-thread.js';
import { DeleteThread } from './application/delete-thread.js';
import { EndOrphanedRuns } from './application/end-orphaned-runs.js';
import { HoldAttachedFiles } from './application/hold-attached-files.js';
import { JoinRun } from './application/join-run.js';
import { KeepRunsOwned } from './application/keep-runs-owned.js';
import { ListMessages } from './application/list-messages.js';
import { ListThreads } from './application/list-threads.js';
import { ReactToMessage } from './application/react-to-message.js';
import { ReadThread } from './application/read-thread.js';
import { RefuseRepeatedToolCalls } from './application/refuse-repeated-tool-calls.js';
import { RemoveDeletedThreads } from './application/remove-deleted-threads.js';
import { ResumeRun } from './application/resume-run.js';
import { RunAgUi } from './application/run-ag-ui.js';
import { RunSupervisor } from './application/run-supervisor.js';
import { StartRun } from './application/start-run.js';
import { SuggestNext } from './application/suggest-next.js';
import { ThreadLookup } from './application/thread-lookup.js';
import { CallModel } from './engine/call-model.js';
import { ExecuteTools } from './engine/execute-tools.js';
import { HookPanel } from './engine/hook-panel.js';
import { LoadHistory } from './engine/load-history.js';
import { PROMPT_SOURCES, TOOL_SOURCES, TURN_HOOKS, TURN_OBSERVERS } from './engine/participants.js';
import { PersistTurn } from './engine/persist-turn.js';
import { PrepareTurn } from './engine/prepare-turn.js';
import { RecallAttachments } from './engine/recall-attachments.js';
import { RecentMessages } from './engine/recent-messages.js';
import { RunOwner } from './engine/run-owner.js';
import { TurnEngine } from './engine/turn-engine.js';
import { AgUiController } from './http/ag-ui.controller.js';
import { ChatCompletionsController } from './http/chat-completions.controller.js';
import { ChatCompletionStreams } from './http/chat-completions.stream.js';
import { ModelsController } from './http/models.controller.js';
import { RunStreams } from './http/run-streams.js';
import { RunsController } from './http/runs.controller.js';
import { SuggestionsController } from './http/suggestions.controller.js';
import { ThreadsController } from './http/threads.controller.js';
import { PurgeIdempotencyKeys, purgeIdempotencyKeys } from './jobs/purge-idempotency-keys.job.js';
import { RemoveDeletedThreadsJob, removeDeletedThreads } from './jobs/remove-deleted-threads.job.js';
import { DeletedThreads } from './persistence/deleted-threads.repository.js';
import { IdempotencyRepository } from './persistence/idempotency.repository.js';
import { MessageRepository } from './persistence/message.repository.js';
import { OpeningRepository } from './persistence/opening.repository.js';
import { RunReader } from './persistence/run-reader.repository.js';
import { RunRepository } from './persistence/run.repository.js';
import { ThreadRepository } from './persistence/thread.repository.js';
import type { PromptSource, ToolSource, TurnHooks, TurnObserver } from './ports/index.js';
import { ThreadDataModule } from './thread-data.module.js';

/** Those who take part in every turn, in the order they are asked. */
export interface TurnParticipants {
  /** The modules that provide the classes below. */
  readonly imports: readonly (Type | DynamicModule)[];
  readonly promptSources: readonly Type<PromptSource>[];
  readonly toolSources: readonly Type<ToolSource>[];
  readonly hooks: readonly Type<TurnHooks>[];
  readonly observers: readonly Type<TurnObserver>[];
}

const contexts = [AccessModule, AgentsModule, ModelsModule, FilesModule, ThreadDataModule];

const attachments = [AcceptAttachments, RecallAttachments, HoldAttachedFiles];

const deletion = [DeletedThreads, RemoveDeletedThreads, RemoveDeletedThreadsJob];

const controllers = [
  ThreadsController,
  RunsController,
  ChatCompletionsController,
  SuggestionsController,
  ModelsController,
  AgUiController,
];

@Module({})
export class ConversationsModule implements OnModuleInit {
  constructor(
    private readonly lookups: ResourceLookups,
    private readonly threads: ThreadLookup,
    private readonly draining: Draining,
    private readonly supervisor: RunSupervisor,
  ) {}

  static forRoot(participants: TurnParticipants): DynamicModule {
    const list = <Participant>(token: symbol, classes: readonly Type<Participant>[]) => ({
      provide: token,
      useFactory: (...instances: Participant[]) => instances,
      inject: [...classes],
    });
    return {
      module: ConversationsModule,
      imports: [...contexts, JobsModule.define(purgeIdempotencyKeys, removeDeletedThreads), ...participants.imports],
      controllers,
      providers: [
        RefuseRepeatedToolCalls,
        list(PROMPT_SOURCES, participants.promptSources),
        list(TOOL_SOURCES, participants.toolSources),
        list(TURN_HOOKS, [RefuseRepeatedToolCalls, ...participants.hooks]),
        list(TURN_OBSERVERS, participants.observers),
        ThreadRepository,
        MessageRepository,
        RunRepository,
        RunOwner,
        HookPanel,
        LoadHistory,
        RecentMessages,
        PrepareTurn,
        CallModel,
        ExecuteTools,
        PersistTurn,
        TurnEngine,
        RunSupervisor,
        ThreadLookup,
        CreateThread,
        ListThreads,
        ReadThread,
        DeleteThread,
        ListMessages,
        ReactToMessage,
        ...attachments,
        ...deletion,
        StartRun,
        ResumeRun,
        CompleteChat,
        RunAgUi,
        SuggestNext,
        ChatCompletionStreams,
        JoinRun,
        CancelRun,
        RunStreams,
        RunReader,
        IdempotencyRepository,
        OpeningRepository,
        PurgeIdempotencyKeys,
        KeepRunsOwned,
        EndOrphanedRuns,
        CancelRunsWhenAgentDeleted,
      ],
      exports: [],
    };
  }

  onModuleInit(): void {
    this.lookups.register(this.threads);
    this.draining.register({
      name: 'runs',
      idle: () => this.supervisor.idle(),
      abort: async () => {
        this.supervisor.abortAll('server_shutdown');
        await this.supervisor.idle();
      },
    });
  }
}
