import { OrganizationDirectory, type OrganizationView } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { Database, inBatches, type Transaction } from '../../platform/database/index.js';
import { type ActiveJob, definePeriodicJob, Outbox, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { PUBLISH_AFTER_MS, PUBLISH_BATCH, PUBLISH_EVERY_MINUTES, PUSH_BATCH } from '../limits.js';
import {
  type PublishedTrace,
  PublishTracesRepository,
  type TraceToPublish,
} from '../persistence/publish-traces.repository.js';
import { pushTraces } from './push-traces.job.js';

export const publishTraces = definePeriodicJob('traces.publish', PUBLISH_EVERY_MINUTES);

/**
 * Publishes each trace once, two minutes after its run: counts it for lists, usage and feedback, includes it in exports, and enqueues its
 * push if there is an OpenTelemetry backend. Each batch is one transaction, so that an interruption or a concurrent publisher neither
 * skips a trace nor counts it twice.
 */
@Processor(publishTraces.name)
export class PublishTraces extends WorkerHost {
  constructor(
    private readonly database: Database,
    private readonly traces: PublishTracesRepository,
    private readonly organizations: OrganizationDirectory,
    private readonly outbox: Outbox,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    await this.execute(signal);
  }

  /** Publishes the traces of runs that ended at least two minutes ago. @returns how many @throws the reason of `signal` */
  async execute(signal: AbortSignal): Promise<number> {
    const before = new Date(this.clock.now().getTime() - PUBLISH_AFTER_MS);
    let published = 0;
    let batch: number;
    do {
      signal.throwIfAborted();
      const due = await this.traces.due(before, PUBLISH_BATCH);
      // 0 if other transactions are deleting all of the due traces.
      batch = due.length === 0 ? 0 : await this.publish(due);
      published += batch;
    } while (batch > 0);
    await this.countWithoutTrace(signal);
    return published;
  }

  /** Counts usage without a trace: of threads that were deleted within the two minutes, and of suggestions. */
  private async countWithoutTrace(signal: AbortSignal): Promise<void> {
    do signal.throwIfAborted();
    while (
      (await this.database.transaction((transaction) => this.traces.countWithoutTrace(transaction, PUBLISH_BATCH))) >=
      PUBLISH_BATCH
    );
  }

  private async publish(due: readonly TraceToPublish[]): Promise<number> {
    const withheldUntil = await this.withheldUntil(new Set(due.map(({ organizationId }) => organizationId)));
    const ids = due.map(({ id }) => id);
    return this.database.transaction(async (transaction) => {
      const published = await this.traces.publish(transaction, ids, withheldUntil, this.clock.now());
      if (this.settings.otlp) await this.enqueuePushes(transaction, published);
      return published.length;
    });
  }

  private async enqueuePushes(transaction: Transaction, published: readonly PublishedTrace[]): Promise<void> {
    const traceIds = published.flatMap(({ id, withheld }) => (withheld ? [] : [id]));
    for (const batch of inBatches(traceIds, () => 1, PUSH_BATCH)) {
      await this.outbox.enqueue(transaction, pushTraces, { traceIds: [...batch] });
    }
  }

  /**
   * By organization, the end of the time whose traces must not leave the service. Read before the transaction, because the embedded
   * database has one connection.
   */
  private async withheldUntil(organizationIds: ReadonlySet<string>): Promise<Record<string, string>> {
    const until = await Promise.all(
      [...organizationIds].map(async (id) => [id, hipaaUntil(await this.organizations.find(id))] as const),
    );
    return Object.fromEntries(until.flatMap(([id, moment]) => (moment === null ? [] : [[id, moment]])));
  }
}

/** An organization without settings may handle HIPAA data. */
function hipaaUntil(organization: OrganizationView | null): string | null {
  if (!organization || organization.features.has('hipaa')) return 'infinity';
  return organization.hipaaUntil?.toISOString() ?? null;
}
