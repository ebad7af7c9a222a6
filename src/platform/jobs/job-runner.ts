import { Injectable } from '@nestjs/common';
import { type Job, type Processor, UnrecoverableError, WaitingError } from 'bullmq';
import { withoutValues } from '../errors/index.js';
import { Logger, redactText } from '../telemetry/index.js';
import type { JobDefinition } from './job.js';
import { JobRegistry } from './job-registry.js';
import { OutboxStore, type StartedRow } from './outbox.sql.js';

/** Runs each job with the payload of its row. The row's count of attempts is the only one: the queue's is set to it before each run. */
@Injectable()
export class JobRunner {
  private readonly stopping = new AbortController();
  private readonly active = new Set<Promise<unknown>>();

  constructor(
    private readonly store: OutboxStore,
    private readonly registry: JobRegistry,
    private readonly logger: Logger,
  ) {}

  decorate(processor: Processor<unknown, unknown>): Processor<unknown, unknown> {
    // The queue passes its signal only to functions with three parameters.
    return (job, token, lost) => {
      const definition = this.registry.definition(job.queueName);
      const run = definition ? this.run(definition, processor, job, token, lost) : processor(job, token, lost);
      this.active.add(run);
      const forget = (): void => void this.active.delete(run);
      run.then(forget, forget);
      return run;
    };
  }

  async idle(): Promise<void> {
    while (this.active.size > 0) await Promise.allSettled(this.active);
  }

  get isActive(): boolean {
    return this.active.size > 0;
  }

  /** The process stops, and the time for jobs to end by themselves is over. */
  isAborted(): boolean {
    return this.stopping.signal.aborted;
  }

  /** Aborts the signals of active jobs. A job that ends then returns to the queue, and the attempt does not count. */
  abort(): void {
    this.stopping.abort(new Error('The process stops'));
  }

  private async run(
    definition: JobDefinition<unknown>,
    processor: Processor<unknown, unknown>,
    job: Job<unknown, unknown>,
    token: string | undefined,
    lost: AbortSignal | undefined,
  ): Promise<void> {
    const id = job.id ?? '';
    if (this.isAborted()) return requeue(job, token);
    const row = await this.store.start(id);
    // The job is done or dead: it was dispatched twice.
    if (!row) return;
    job.attemptsMade = row.attempt - 1;
    try {
      if (row.attempt > definition.retry.attempts) {
        throw new UnrecoverableError(`Each of ${String(row.attempt - 1)} attempts ended with the process that made it`);
      }
      const signal = AbortSignal.any([this.stopping.signal, ...(lost ? [lost] : [])]);
      await processor(Object.assign(job, { data: definition.payload.parse(row.payload), signal }), token, lost);
    } catch (error) {
      // The queue stores the error as well, and an operator lists it.
      if (!this.isAborted()) return this.failed(id, definition, row, withoutValues(error));
      await this.store.giveBack(id);
      return requeue(job, token);
    }
    await this.store.complete(id);
  }

  private async failed(
    id: string,
    { name, retry }: JobDefinition<unknown>,
    { attempt }: StartedRow,
    error: unknown,
  ): Promise<never> {
    const dead = error instanceof UnrecoverableError || attempt >= retry.attempts;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    await this.store.fail(id, redactText(text), dead);
    const fields = { job: name, id, attempt, err: error };
    if (dead) this.logger.error(fields, 'A job failed for the last time');
    else this.logger.warn(fields, 'A job failed and will be retried');
    throw error;
  }
}

async function requeue(job: Job<unknown, unknown>, token: string | undefined): Promise<never> {
  await job.moveToWait(token);
  throw new WaitingError();
}
