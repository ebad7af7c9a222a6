import { InjectQueue, Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job, Queue } from 'bullmq';
import { Clock } from '../clock/index.js';
import { Database } from '../database/index.js';
import { JobRegistry, SCHEDULES } from './job-registry.js';
import { Outbox } from './outbox.js';
import { QueueConnection } from './queue-connection.js';

/** The key that a scheduled job waits under: a tick finds the one before it still waiting and adds nothing. */
const SCHEDULE_KEY = 'schedule';

const TICK_OPTIONS = {
  attempts: 3,
  backoff: { type: 'fixed', delay: 1_000 },
  removeOnComplete: true,
  removeOnFail: true,
};

/** Keeps the queue's schedulers as the definitions want them, and turns each of their ticks into a row. */
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

  /** A schedule has come due: once in the installation, since the queue has one scheduler for it. */
  async process({ name }: Job): Promise<void> {
    const job = this.registry.definition(name);
    const schedule = job?.schedule;
    if (!job || !schedule) return;
    await this.database.transaction((transaction) =>
      this.outbox.enqueue(transaction, job, schedule.payload, { dedupeKey: SCHEDULE_KEY }),
    );
  }

  /** Puts in place the schedulers that definitions ask for and the queue lacks or has otherwise. */
  async install(): Promise<void> {
    await this.removeForeign();
    for (const { definition } of this.registry.all()) {
      const { name, schedule } = definition;
      if (!schedule) continue;
      const every = schedule.everyMinutes * 60_000;
      const present = await this.queue.getJobScheduler(name);
      // Putting the same one in place again would put off its next run.
      if (present?.every === every) continue;
      // By itself a first run comes at once: every start of a new installation would begin with all of them together.
      const startDate = new Date(this.clock.now().getTime() + every);
      await this.queue.upsertJobScheduler(name, { every, startDate }, { name, opts: TICK_OPTIONS });
    }
  }

  /** Ends the schedulers of definitions that are gone. At the start only: an older replica would fight a newer one. */
  private async removeForeign(): Promise<void> {
    if (this.foreignRemoved) return;
    for (const { key } of await this.queue.getJobSchedulers()) {
      if (!this.registry.definition(key)?.schedule) await this.queue.removeJobScheduler(key);
    }
    this.foreignRemoved = true;
  }
}
