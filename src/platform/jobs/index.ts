export { Processor, WorkerHost } from '@nestjs/bullmq';
/** Thrown by a job that no repetition would help: it is dead at once. */
export { UnrecoverableError } from 'bullmq';
export { type ActiveJob, defineJob, type JobDefinition, type JobOptions, type RetryPolicy, type Schedule } from './job.js';
export { JobsModule, type JobsModuleOptions } from './jobs.module.js';
export { jobsSchema } from './jobs.schema.js';
export { Outbox, type EnqueueOptions, writeJob } from './outbox.js';
