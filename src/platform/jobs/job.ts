import type { Job } from 'bullmq';
import type { z } from 'zod';

export interface RetryPolicy {
  /** Runs in all, the first included; after the last one the job is dead. */
  readonly attempts: number;
  /** Pause before the second run; doubles before each further one. */
  readonly backoffSeconds: number;
}

/** When a job starts by itself: one run at a time in the whole installation, however many replicas there are. */
export interface Schedule<Payload> {
  readonly everyMinutes: number;
  readonly payload: Payload;
}

export interface JobOptions<Payload> {
  /** `<context>.<verb or noun>`, unique in the service: the name of its queue, and rows in the database carry it. */
  readonly name: string;
  /** The payload: ids and plain JSON values, never a secret. */
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

/**
 * What a processor is given. `data` is the row's payload, checked by its schema; `attemptsMade` the runs before this.
 *
 * A processor may run twice for one job: a process can die, or lose touch with the queue, after the work is done and
 * before that is recorded. So it must find what is done already (a unique key, a compare-and-set, a state it reads
 * first) and leave it alone. It may also run later than asked for, and beside another job of the same definition.
 * Throwing means "try again": after the definition's last attempt the job is dead and its last error is kept.
 */
export interface ActiveJob<Payload> extends Job<Payload, void> {
  /** Aborted when the process stops and the job had its time; the run is then repeated and counts as no attempt. */
  readonly signal: AbortSignal;
}
