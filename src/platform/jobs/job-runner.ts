import { Injectable } from '@nestjs/common';
import { Database } from '../database/index.js';
import { Logger, redactText } from '../telemetry/index.js';
import { JobRegistry } from './job-registry.js';
import { Outbox } from './outbox.js';
import { OutboxStore, type StartedRow } from './outbox-store.js';

/** The last attempt has failed; nothing will try again. */
export class DeadLetter extends Error {}

/** What a stopping process aborts its jobs with. */
export class ProcessStopping extends Error {}

/** The key that a scheduled job waits under: a tick finds the one before it still waiting and adds nothing. */
const SCHEDULE_KEY = 'schedule';

/** Runs one job from its row, and turns a schedule's tick into a row. */
@Injectable()
export class JobRunner {
  constructor(
    private readonly database: Database,
    private readonly store: OutboxStore,
    private readonly outbox: Outbox,
    private readonly registry: JobRegistry,
    private readonly logger: Logger,
  ) {}

  /**
   * @returns `interrupted` when the process stops and the job is another's to run again, else `done`
   * @throws DeadLetter after the last attempt, or the handler's own error when there is another one
   */
  async run(id: string, signal: AbortSignal): Promise<'done' | 'interrupted'> {
    if (signal.reason instanceof ProcessStopping) return 'interrupted';
    const row = await this.store.start(id);
    if (!row) return 'done';
    try {
      await this.handle(row, signal);
    } catch (error) {
      if (signal.reason instanceof ProcessStopping) {
        await this.store.giveBack(id);
        return 'interrupted';
      }
      return this.failed(id, row, error);
    }
    await this.store.complete(id);
    return 'done';
  }

  /** A schedule has come due: once in the installation, since the queue has one scheduler for it. */
  async tick(name: string): Promise<void> {
    const job = this.registry.definition(name);
    const schedule = job?.schedule;
    if (!job || !schedule) return;
    await this.database.transaction((transaction) =>
      this.outbox.enqueue(transaction, job, schedule.payload, { dedupeKey: SCHEDULE_KEY }),
    );
  }

  private async handle({ name, payload, attempt }: StartedRow, signal: AbortSignal): Promise<void> {
    const handler = this.registry.handler(name);
    if (!handler) throw new Error(`This build has no handler for the job ${name}`);
    if (attempt > handler.job.retry.attempts) {
      throw new DeadLetter(`Each of ${String(attempt - 1)} attempts ended with the process that made it`);
    }
    await handler.run(handler.job.payload.parse(payload), { signal, attempt });
  }

  private async failed(id: string, { name, attempt }: StartedRow, error: unknown): Promise<never> {
    const attempts = this.registry.definition(name)?.retry.attempts ?? Infinity;
    const dead = error instanceof DeadLetter || attempt >= attempts;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    await this.store.fail(id, redactText(text), dead);
    const fields = { job: name, id, attempt, err: error };
    if (!dead) {
      this.logger.warn(fields, 'A job failed and will be tried again');
      throw error;
    }
    this.logger.error(fields, 'A job failed for the last time');
    throw new DeadLetter(error instanceof Error ? error.message : text);
  }
}
