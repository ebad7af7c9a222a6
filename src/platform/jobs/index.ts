export {
  defineJob, type JobContext, type JobDefinition, JobHandler, type JobOptions, type RetryPolicy, type Schedule,
} from './job.js';
export { JobsModule, type JobsModuleOptions } from './jobs.module.js';
export { jobsSchema } from './jobs.schema.js';
export { Outbox, type EnqueueOptions } from './outbox.js';
