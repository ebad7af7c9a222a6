import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { AgentsModule } from '../agents/index.js';
import { FilesModule } from '../files/index.js';
import { ModelsModule } from '../models/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { AcceptAttachments } from './application/accept-attachments.js';
import { AdmitRun } from './application/admit-run.js';
import { CancelRun } from './application/cancel-run.js';
import { CreateThread } from './application/create-thread.js';
import { DeleteThread } from './application/delete-thread.js';
import { RunReconciler } from './application/run-reconciler.js';
import { IdempotentRuns } from './application/idempotent-runs.js';
import { FollowRun } from './application/follow-run.js';
import { JoinRun } from './application/join-run.js';
import { RunEnds } from './application/run-ends.js';
import { RunSignals } from './application/run-signals.js';
import { ListRuns } from './application/list-runs.js';
import { RunHeartbeat } from './application/run-heartbeat.js';
import { ReadThreads } from './application/read-threads.js';
import { ReadReactions } from './application/read-reactions.js';
import { ResumeRun } from './application/resume-run.js';
import { RunAgUi } from './application/run-ag-ui.js';
import { LateStarts } from './application/late-starts.js';
import { RunLauncher } from './application/run-launcher.js';
import { RunSupervisor } from './application/run-supervisor.js';
import { ShowMessages } from './application/show-messages.js';
import { CompleteChat } from './application/complete-chat.js';
import { SilentLogs } from './application/silent-logs.js';
import { StartRun } from './application/start-run.js';
import { SuggestNext } from './application/suggest-next.js';
import { ThreadDataHolders } from './application/thread-data-holders.js';
import { ThreadRemoval } from './application/thread-removal.js';
import { ThreadLookup } from './application/thread-lookup.js';
import { WidgetConversations } from './application/widget-conversations.js';
import { CallModel } from './engine/call-model.js';
import { DatabaseOutage } from './engine/database-outage.js';
import { ExecuteTools } from './engine/execute-tools.js';
import { HookDispatcher } from './engine/hook-dispatcher.js';
import { LoadHistory } from './engine/load-history.js';
import { PersistRun } from './engine/persist-run.js';
import { PrepareRun } from './engine/prepare-run.js';
import { LoadAttachments } from './engine/load-attachments.js';
import { HistoryCache } from './engine/history-cache.js';
import { RunObservers } from './engine/run-observers.js';
import { RunOwner } from './engine/run-owner.js';
import { RunEngine } from './engine/run-engine.js';
import { ToolCallMetrics } from './engine/tool-call-metrics.js';
import { AgUiController } from './http/ag-ui.controller.js';
import { ChatCompletionsController } from './http/chat-completions.controller.js';
import { ModelsController } from './http/models.controller.js';
import { RunListsController } from './http/run-lists.controller.js';
import { RunStreams } from './http/run-streams.js';
import { RunsController } from './http/runs.controller.js';
import { SuggestionsController } from './http/suggestions.controller.js';
import { ThreadsController } from './http/threads.controller.js';
import { ApplyRetention, applyRetention } from './jobs/apply-retention.job.js';
import { PurgeIdempotencyKeys, purgeIdempotencyKeys } from './jobs/purge-idempotency-keys.job.js';
import { RemoveDeletedThreads, removeDeletedThreads } from './jobs/remove-deleted-threads.job.js';
import { RemoveEmptyThreads, removeEmptyThreads } from './jobs/remove-empty-threads.job.js';
import { IdempotencyRepository } from './persistence/idempotency.repository.js';
import { MessageRepository } from './persistence/message.repository.js';
import { NewThreadRepository } from './persistence/new-thread.repository.js';
import { RetentionRepository } from './persistence/retention.repository.js';
import { RunList } from './persistence/run-list.repository.js';
import { RunReader } from './persistence/run-reader.repository.js';
import { RunRepository } from './persistence/run.repository.js';
import { ThreadRemovalRepository } from './persistence/thread-removal.repository.js';
import { ThreadRepository } from './persistence/thread.repository.js';
import { UserKeysModule } from './user-keys.module.js';

@Module({
  imports: [
    AccessModule,
    AgentsModule,
    ModelsModule,
    FilesModule,
    UserKeysModule,
    JobsModule.define(purgeIdempotencyKeys, removeDeletedThreads, removeEmptyThreads, applyRetention),
  ],
  controllers: [
    ThreadsController,
    RunsController,
    RunListsController,
    ChatCompletionsController,
    SuggestionsController,
    ModelsController,
    AgUiController,
  ],
  providers: [
    ThreadRepository,
    MessageRepository,
    RunRepository,
    RunOwner,
    RunObservers,
    DatabaseOutage,
    HookDispatcher,
    LoadHistory,
    HistoryCache,
    PrepareRun,
    CallModel,
    ExecuteTools,
    ToolCallMetrics,
    PersistRun,
    RunEngine,
    RunSupervisor,
    ThreadLookup,
    CreateThread,
    ReadThreads,
    DeleteThread,
    ReadReactions,
    ShowMessages,
    AcceptAttachments,
    LoadAttachments,
    ThreadRemovalRepository,
    ThreadRemoval,
    RetentionRepository,
    ApplyRetention,
    RemoveDeletedThreads,
    WidgetConversations,
    RemoveEmptyThreads,
    AdmitRun,
    RunLauncher,
    LateStarts,
    IdempotentRuns,
    CompleteChat,
    StartRun,
    ResumeRun,
    RunAgUi,
    SuggestNext,
    RunSignals,
    RunEnds,
    SilentLogs,
    FollowRun,
    JoinRun,
    CancelRun,
    RunStreams,
    RunReader,
    RunList,
    ListRuns,
    IdempotencyRepository,
    NewThreadRepository,
    PurgeIdempotencyKeys,
    RunHeartbeat,
    RunReconciler,
    ThreadDataHolders,
  ],
  exports: [ReadReactions, ThreadDataHolders, WidgetConversations, UserKeysModule],
})
export class ConversationsModule {}
