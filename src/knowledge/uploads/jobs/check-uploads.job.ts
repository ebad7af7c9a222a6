import { z } from 'zod';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { type ActiveJob, defineJob, Outbox, Processor, WorkerHost } from '../../../platform/jobs/index.js';
import { TakeUploadTurns } from '../application/take-upload-turns.js';
import { CHECK_BATCH, CHECK_EVERY_MINUTES, UNFINISHED_MS, UNPARSED_MS, UNREMOVED_MS } from '../limits.js';
import { LeftBehindKnowledge, type StaleStates, type StaleUpload } from '../persistence/left-behind-knowledge.repository.js';
import { UploadTurnRepository } from '../persistence/upload-turn.repository.js';
import { parseUpload } from './parse-upload.definition.js';
import { removeUpload } from './remove-upload.job.js';

const payload = z.object({});
type Payload = z.output<typeof payload>;

/** Gives uploads a job again that were left without: no file stays half stored, `processing` or half removed for ever. */
export const checkUploads = defineJob({
  name: 'knowledge.check-uploads',
  payload,
  schedule: { everyMinutes: CHECK_EVERY_MINUTES, payload: {} },
});

interface Check extends Pick<StaleStates, 'from' | 'to'> {
  readonly afterMs: number;
}

const CHECKS: readonly Check[] = [
  { from: 'pending', to: 'removing', afterMs: UNFINISHED_MS },
  { from: 'removing', to: 'removing', afterMs: UNREMOVED_MS },
  { from: 'processing', to: 'processing', afterMs: UNPARSED_MS },
];

@Processor(checkUploads.name)
export class CheckUploadsProcessor extends WorkerHost {
  constructor(
    private readonly database: Database,
    private readonly leftovers: LeftBehindKnowledge,
    private readonly turns: UploadTurnRepository,
    private readonly takeTurns: TakeUploadTurns,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob<Payload>): Promise<void> {
    const now = this.clock.now();
    for (const { from, to, afterMs } of CHECKS) {
      const states = { from, to, since: new Date(now.getTime() - afterMs), now };
      let taken: number;
      do {
        signal.throwIfAborted();
        taken = await this.database.transaction((transaction) => this.take(transaction, states));
      } while (taken === CHECK_BATCH);
    }
    // Where nobody passed a turn on, as when the job that held it was lost.
    for (const organizationId of await this.turns.waitingSince(new Date(now.getTime() - UNPARSED_MS))) {
      await this.database.transaction((transaction) => this.takeTurns.execute(transaction, organizationId));
    }
  }

  private async take(transaction: Transaction, states: StaleStates): Promise<number> {
    const stale = await this.leftovers.takeStale(transaction, states, CHECK_BATCH);
    for (const upload of stale) await this.enqueue(transaction, upload, states.to);
    return stale.length;
  }

  /** A job that is still waiting stays the only one. */
  private enqueue(transaction: Transaction, { organizationId, agentId, id: fileId }: StaleUpload, to: StaleStates['to']): Promise<void> {
    const options = { dedupeKey: fileId };
    return to === 'removing'
      ? this.outbox.enqueue(transaction, removeUpload, { organizationId, fileId }, options)
      : this.outbox.enqueue(transaction, parseUpload, { organizationId, agentId, fileId }, options);
  }
}
