import { Clock } from '../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { type ActiveJob, definePeriodicJob, Outbox, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { UploadScheduler } from '../application/upload-scheduler.js';
import { CHECK_BATCH, CHECK_EVERY_MINUTES, UNFINISHED_MS, UNPARSED_MS, UNREMOVED_MS } from '../limits.js';
import { type StaleStates, UploadRepository } from '../persistence/upload.repository.js';
import { parseUpload, removeUpload } from './upload.jobs.js';

/** Enqueues jobs again for uploads whose jobs were lost, so that no upload stays `pending`, `processing` or `removing`. */
export const checkUploads = definePeriodicJob('knowledge.check-uploads', CHECK_EVERY_MINUTES);

const CHECKS = [
  { from: 'pending', to: 'removing', afterMs: UNFINISHED_MS },
  { from: 'removing', to: 'removing', afterMs: UNREMOVED_MS },
  { from: 'processing', to: 'processing', afterMs: UNPARSED_MS },
] as const;

@Processor(checkUploads.name)
export class CheckUploadsProcessor extends WorkerHost {
  constructor(
    private readonly database: Database,
    private readonly uploads: UploadRepository,
    private readonly scheduler: UploadScheduler,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    const now = this.clock.now();
    for (const { from, to, afterMs } of CHECKS) {
      const states = { from, to, since: new Date(now.getTime() - afterMs) };
      let taken: number;
      do {
        signal.throwIfAborted();
        taken = await this.database.transaction((transaction) => this.take(transaction, states, now));
      } while (taken === CHECK_BATCH);
    }
    // A job that was lost has not released its slot.
    const since = new Date(now.getTime() - UNPARSED_MS);
    for (const organizationId of await this.uploads.findOrganizationsWaitingSince(since))
      await this.database.transaction((transaction) => this.scheduler.enqueueNext(transaction, organizationId));
  }

  private async take(transaction: Transaction, states: StaleStates, now: Date): Promise<number> {
    const stale = await this.uploads.takeStale(transaction, states, now, CHECK_BATCH);
    for (const { organizationId, agentId, id: fileId } of stale) {
      // The key avoids a second job if the first is still in the queue.
      const options = { dedupeKey: fileId };
      if (states.to === 'removing')
        await this.outbox.enqueue(transaction, removeUpload, { organizationId, fileId }, options);
      else await this.outbox.enqueue(transaction, parseUpload, { organizationId, agentId, fileId }, options);
    }
    return stale.length;
  }
}
