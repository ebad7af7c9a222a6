import { InjectQueue, Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job, Queue } from 'bullmq';
import { Clock } from '../clock/index.js';
import { Database } from '../database/index.js';
import { JobRegistry, SCHEDULES } from './job-registry.js';
import { Outbox } from './outbox.js';
import { QueueConnection } from './queue-connection.js';

/** The dedupe key of scheduled jobs: a tick adds nothing while the job of the one before still waits. */
const SCHEDULE_KEY = 'schedule';

const TICK_OPTIONS = {
  attempts: 3,
  backoff: { type: 'fixed', delay: 1_000 },
  removeOnComplete: true,
  removeOnFail: true,
};

/** Keeps the queue's schedulers equal to the definitions, and turns each tick into a row of the outbox. */
@Processor(SCHEDULES)
export class JobSchedules extends WorkerHost {
  private foreignRemoved = false;

  constructor(
    @InjectQueue(SCHEDULES) private readonly queue: Queue,
    connection: QueueConnection,
    private readonly registry: JobRegistry,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {
    super();
    connection.report(queue);
  }

  /** Handles a tick, which occurs once in the installation, because the queue has one scheduler for each schedule. */
  async process({ name }: Job): Promise<void> {
    const job = this.registry.definition(name);
    const schedule = job?.schedule;
    if (!job || !schedule) return;
    await this.database.transaction((transaction) =>
      this.outbox.enqueue(transaction, job, schedule.payload, { dedupeKey: SCHEDULE_KEY }),
    );
  }

  /** Adds or replaces the schedulers that the queue lacks or has with another interval. */
  async install(): Promise<void> {
    await this.removeForeign();
    for (const { definition } of this.registry.all()) {
      const { name, schedule } = definition;
      if (!schedule) continue;
      const every = schedule.everyMinutes * 60_000;
      const present = await this.queue.getJobScheduler(name);
      // Replacing it with the same one would postpone its next run.
      if (present?.every === every) continue;
      // By default the first run is immediate: a new installation would start all of them together.
      const startDate = new Date(this.clock.now().getTime() + every);
      await this.queue.upsertJobScheduler(name, { every, startDate }, { name, opts: TICK_OPTIONS });
    }
  }

  /** Removes the schedulers of removed definitions, only at the start: otherwise replicas of two releases would undo each other's changes. */
  private async removeForeign(): Promise<void> {
    if (this.foreignRemoved) return;
    for (const { key } of await this.queue.getJobSchedulers()) {
      if (!this.registry.definition(key)?.schedule) await this.queue.removeJobScheduler(key);
    }
    this.foreignRemoved = true;
  }
}
