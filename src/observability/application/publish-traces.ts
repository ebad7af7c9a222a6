import { Injectable } from '@nestjs/common';
import { OrganizationDirectory, type OrganizationView } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { Database, inBatches, type Transaction } from '../../platform/database/index.js';
import { Outbox } from '../../platform/jobs/index.js';
import { pushTraces } from '../jobs/push-traces.job.js';
import { PUBLISH_AFTER_MS, PUBLISH_BATCH, PUSH_BATCH } from '../limits.js';
import {
  type PublishedTrace,
  PublishTracesRepository,
  type TraceToPublish,
} from '../persistence/publish-traces.repository.js';

/**
 * Takes up each finished trace once, two minutes after its run: counts it for lists, usage and feedback, makes it part of
 * exports, and has it pushed where there is an OpenTelemetry backend. Each batch is one transaction, so that being broken
 * off, or two at once, neither skips a trace nor counts one twice.
 */
@Injectable()
export class PublishTraces {
  constructor(
    private readonly database: Database,
    private readonly traces: PublishTracesRepository,
    private readonly organizations: OrganizationDirectory,
    private readonly outbox: Outbox,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /**
   * Publishes all that ended two minutes before the call.
   * @returns how many
   * @throws the signal's reason once that is aborted
   */
  async execute(signal: AbortSignal): Promise<number> {
    const before = new Date(this.clock.now().getTime() - PUBLISH_AFTER_MS);
    let published = 0;
    let batch: number;
    do {
      signal.throwIfAborted();
      const due = await this.traces.due(before, PUBLISH_BATCH);
      // None of those that are due, where somebody is deleting them.
      batch = due.length === 0 ? 0 : await this.publish(due);
      published += batch;
    } while (batch > 0);
    await this.countWithoutTrace(signal);
    return published;
  }

  /** Usage counts even if the conversation was deleted within the two minutes, or, for suggestions, never existed. */
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

  /** Until when what organizations have left stays in the service. Looked up before the transaction: the embedded database has one connection. */
  private async withheldUntil(organizationIds: ReadonlySet<string>): Promise<Record<string, string>> {
    const until = await Promise.all(
      [...organizationIds].map(async (id) => [id, hipaaUntil(await this.organizations.find(id))] as const),
    );
    return Object.fromEntries(until.flatMap(([id, moment]) => (moment === null ? [] : [[id, moment]])));
  }
}

/** Of an organization without settings the data handling is unknown. */
function hipaaUntil(organization: OrganizationView | null): string | null {
  if (!organization || organization.features.has('hipaa')) return 'infinity';
  return organization.hipaaUntil?.toISOString() ?? null;
}
