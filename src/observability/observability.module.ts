import { Module } from '@nestjs/common';
import { ConversationsModule } from '../conversations/index.js';
import { HooksModule } from '../hooks/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { HoldTracesOfThreads } from './application/hold-traces-of-threads.js';
import { LogRuns } from './application/log-runs.js';
import { ReadTraces } from './application/read-traces.js';
import { RecordTrace } from './application/record-trace.js';
import { RunMetrics } from './application/run-metrics.js';
import { TraceAccessGuard } from './http/trace-access.guard.js';
import { TracesController } from './http/traces.controller.js';
import { PurgeTraces, purgeTraces } from './jobs/purge-traces.job.js';
import { TraceRepository } from './persistence/trace.repository.js';

/** What the agents did: a trace of every run, kept and read for 90 days. */
@Module({
  imports: [ConversationsModule, HooksModule, JobsModule.define(purgeTraces)],
  controllers: [TracesController],
  providers: [TraceRepository, RecordTrace, RunMetrics, LogRuns, ReadTraces, PurgeTraces, TraceAccessGuard, HoldTracesOfThreads],
  exports: [RecordTrace, RunMetrics, LogRuns],
})
export class ObservabilityModule {}
