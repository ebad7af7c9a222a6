export {
  type ActiveJob,
  defineJob,
  type JobDefinition,
  type JobOptions,
  type RetryPolicy,
  type Schedule,
} from './job.js';
export { JobWorkers } from './job-workers.js';
export { JobsModule } from './jobs.module.js';
export { jobsSchema } from './jobs.schema.js';
export { type EnqueueOptions, Outbox } from './outbox.js';
export { Processor, UnrecoverableError, WorkerHost } from './processor.js';
