import type { Job } from 'bullmq';
import { z } from 'zod';

export interface RetryPolicy {
  /** All attempts, including the first; after the last one the job is dead. */
  readonly attempts: number;
  /** Pause before the second attempt; doubled before each further one. */
  readonly backoffSeconds: number;
}

/** When a job starts by itself: one at a time in the whole installation, for any number of replicas. */
export interface Schedule<Payload> {
  readonly everyMinutes: number;
  readonly payload: Payload;
}

export interface JobOptions<Payload> {
  /** `<context>.<verb or noun>`, unique in the service: also the name of its queue and a column of its rows. */
  readonly name: string;
  /** Ids and plain JSON values, never a secret. */
  readonly payload: z.ZodType<Payload>;
  readonly retry?: RetryPolicy;
  readonly schedule?: Schedule<NoInfer<Payload>>;
}

export interface JobDefinition<Payload> extends JobOptions<Payload> {
  readonly retry: RetryPolicy;
}

const DEFAULT_RETRY: RetryPolicy = { attempts: 5, backoffSeconds: 5 };

/** Declares a job. `JobsModule.define` registers its queue; its one `@Processor(job.name)` runs it. */
export function defineJob<Payload>(options: JobOptions<Payload>): JobDefinition<Payload> {
  return { ...options, retry: options.retry ?? DEFAULT_RETRY };
}

/** Declares a job without a payload that starts by itself. */
export function definePeriodicJob(name: string, everyMinutes: number): JobDefinition<object> {
  return defineJob({ name, payload: z.object({}), schedule: { everyMinutes, payload: {} } });
}

/**
 * The argument of a processor. `data` is the row's payload, checked by its schema; `attemptsMade` is the number of earlier attempts.
 *
 * A processor may run twice for one job: a process can die, or lose its connection to the queue, after the work is done and
 * before that is stored. So it must detect work that is done (a unique key, a compare-and-set, a state that it reads first).
 * It may also run later than requested, and concurrently with another job of the same definition.
 * An error means "retry": after the last attempt the job is dead and its last error is kept.
 */
export interface ActiveJob<Payload = object> extends Job<Payload, void> {
  /** Aborted if the process stops and the job has not ended in time; the attempt is repeated and does not count. */
  readonly signal: AbortSignal;
}

/** The argument of the processor of a job, such as `JobOf<typeof removeUpload>`. */
export type JobOf<Definition> = Definition extends JobDefinition<infer Payload> ? ActiveJob<Payload> : never;
