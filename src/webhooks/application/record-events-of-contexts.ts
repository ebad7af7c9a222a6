import { Injectable } from '@nestjs/common';
import { PeriodExhausted } from '../../credits/index.js';
import { AuthorizationNeeded } from '../../integrations/index.js';
import { KnowledgeSyncFinished } from '../../knowledge/index.js';
import type { Transaction } from '../../platform/database/index.js';
import { TransactionEvents } from '../../platform/events/index.js';
import { derivedId, newId } from '../../platform/ids/index.js';
import type { OrganizationEvent } from '../domain/webhook-event.js';
import { DeliveryRepository } from '../persistence/delivery.repository.js';

/** Stores the deliveries of what other contexts report, in the transaction of what happened. */
@Injectable()
export class RecordEventsOfContexts {
  constructor(
    private readonly deliveries: DeliveryRepository,
    events: TransactionEvents,
  ) {
    events.subscribe(KnowledgeSyncFinished, (transaction, { organizationId, agentId, sourceId, at }) =>
      this.add(transaction, {
        ...{ type: 'knowledge.sync_finished', organizationId, agentId, createdAt: at },
        data: { assistant_id: agentId, sourceId },
      }),
    );
    events.subscribe(AuthorizationNeeded, (transaction, { organizationId, integrationId, agentIds, at }) => {
      // Of an integration that several agents use, the event is one of the organization.
      const [agentId = null, ...others] = agentIds;
      const only = others.length === 0 ? agentId : null;
      return this.add(transaction, {
        ...{ type: 'integration.needs_authorization', organizationId, agentId: only, createdAt: at },
        data: { integrationId, ...(only !== null && { assistant_id: only }) },
      });
    });
    events.subscribe(PeriodExhausted, (transaction, { organizationId, periodId, at }) =>
      this.add(transaction, {
        ...{ type: 'credits.exhausted', organizationId, agentId: null, createdAt: at },
        data: { periodId },
      }),
    );
  }

  private add(transaction: Transaction, event: Omit<OrganizationEvent, 'id'>): Promise<void> {
    // With the time of the event, by which an endpoint's deliveries are listed.
    return this.deliveries.add(transaction, { id: derivedId(event.createdAt, ['webhook', newId()]), ...event });
  }
}
