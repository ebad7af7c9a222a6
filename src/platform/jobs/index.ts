export { type ActiveJob, defineJob, definePeriodicJob, type JobDefinition, type JobOf } from './job.js';
export { JobWorkers } from './job-workers.js';
export { JobsModule } from './jobs.module.js';
export { jobsSchema } from './jobs.schema.js';
export { Outbox } from './outbox.js';
export { Processor, UnrecoverableError, WorkerHost } from './processor.js';
