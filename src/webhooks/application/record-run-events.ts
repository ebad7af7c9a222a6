import { Inject, Injectable } from '@nestjs/common';
import { type FinishedRun, RunObserver, type RunRecord } from '../../conversations/index.js';
import { derivedId } from '../../platform/ids/index.js';
import type { EventType } from '../domain/webhook-event.js';
import { deliveryRow } from '../persistence/delivery.repository.js';
import { SubscribedOrganizations } from './subscribed-organizations.js';

const TYPES = {
  completed: 'run.completed',
  requires_action: 'run.requires_action',
  failed: 'run.failed',
  cancelled: 'run.cancelled',
  timed_out: 'run.timed_out',
  running: null,
} as const satisfies Record<FinishedRun['run']['status'], EventType | null>;

/** Adds the deliveries of a run's end to the statement that stores the end: none where no endpoint wants the event. */
@Injectable()
export class RecordRunEvents extends RunObserver {
  constructor(@Inject(SubscribedOrganizations) private readonly subscribed: Pick<SubscribedOrganizations, 'mayWant'>) {
    super();
  }

  override record({ run }: FinishedRun): readonly RunRecord[] {
    const type = TYPES[run.status];
    if (type === null || !this.subscribed.mayWant(run.organizationId)) return [];
    const { id: runId, organizationId, agentId, threadId } = run;
    const createdAt = run.completedAt ?? run.createdAt;
    // Derived, so that a repeated attempt to store the end adds no second event.
    const id = derivedId(createdAt, ['webhook', runId]);
    const data = { assistant_id: agentId, thread_id: threadId, runId };
    return [deliveryRow({ id, organizationId, agentId, type, createdAt, data })];
  }
}
