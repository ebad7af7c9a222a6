import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { AgentsModule } from '../agents/index.js';
import { ConversationsModule, UserColumns } from '../conversations/index.js';
import { HooksModule } from '../hooks/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { DeleteTraceData } from './application/delete-trace-data.js';
import { ExportTraces } from './application/export-traces.js';
import { LogRuns } from './application/log-runs.js';
import { ReadFeedback } from './application/read-feedback.js';
import { ReadTraces } from './application/read-traces.js';
import { ReadUsage } from './application/read-usage.js';
import { RecordTrace } from './application/record-trace.js';
import { RunMetrics } from './application/run-metrics.js';
import { AnalyticsController } from './http/analytics.controller.js';
import { TraceAccessGuard } from './http/trace-access.guard.js';
import { TracesController } from './http/traces.controller.js';
import { PublishTraces, publishTraces } from './jobs/publish-traces.job.js';
import { PurgeTraces, purgeTraces } from './jobs/purge-traces.job.js';
import { PushTraces, pushTraces } from './jobs/push-traces.job.js';
import { AnalyticsRepository } from './persistence/analytics.repository.js';
import { PublishTracesRepository } from './persistence/publish-traces.repository.js';
import { TraceCountsRepository } from './persistence/trace-counts.repository.js';
import { TraceRepository } from './persistence/trace.repository.js';

const traces = [TraceRepository, RecordTrace, ReadTraces, TraceAccessGuard, PurgeTraces];

const publishing = [PublishTracesRepository, PublishTraces, PushTraces, ExportTraces];

const analytics = [AnalyticsRepository, ReadFeedback, ReadUsage, TraceCountsRepository, DeleteTraceData];

/** Traces: one of every run, kept for 90 days, listed, exported and counted. */
@Module({
  imports: [
    AccessModule,
    AgentsModule,
    ConversationsModule,
    HooksModule,
    JobsModule.define(purgeTraces, publishTraces, pushTraces),
  ],
  controllers: [TracesController, AnalyticsController],
  providers: [...traces, ...publishing, ...analytics, RunMetrics, LogRuns],
  exports: [RecordTrace, RunMetrics, LogRuns],
})
export class ObservabilityModule {
  constructor(users: UserColumns) {
    users.register(
      { table: 'traces', column: 'user_key' },
      { table: 'agent_users', column: 'user_key', uniqueWith: ['agent_id', 'day'] },
    );
  }
}
