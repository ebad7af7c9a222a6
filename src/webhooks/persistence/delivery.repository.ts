import { Injectable } from '@nestjs/common';
import {
  Database,
  type FanOut,
  fanOutRow,
  rowsByTable,
  type TableRow,
  toDate,
  type Transaction,
} from '../../platform/database/index.js';
import { type AfterAttempt, type DeliveryAttempt, type DeliveryStatus, isGone } from '../domain/delivery.js';
import type { EventType, OrganizationEvent, WebhookEvent } from '../domain/webhook-event.js';
import { FAIL_BATCH, KEPT_ATTEMPTS, LEASE_SECONDS, LOAD_BATCH, PURGE_BATCH } from '../limits.js';
import * as sql from './deliveries.sql.js';
import { EVENT_DATA, StoredDelivery } from './webhooks.schema.js';

export interface Delivery {
  /** The id of the event. */
  readonly id: string;
  readonly type: EventType;
  readonly status: DeliveryStatus;
  readonly createdAt: Date;
  readonly attempts: readonly DeliveryAttempt[];
  readonly deliveredAt: Date | null;
  readonly nextAttemptAt: Date | null;
}

export interface DeliveryFilter {
  readonly status: DeliveryStatus | null;
  /** The id of the last delivery of the previous page. */
  readonly after: string | null;
  readonly limit: number;
}

/** An endpoint, by its ids. */
export interface EndpointRef {
  readonly id: string;
  readonly organizationId: string;
}

export interface DueDelivery {
  readonly event: WebhookEvent;
  /** Attempts so far, since the event or since it was last sent again by hand. */
  readonly tries: number;
}

/** What a served endpoint has to receive. */
export interface DueDeliveries {
  readonly url: string;
  readonly isFailing: boolean;
  /** The one that is due longest first. */
  readonly deliveries: readonly DueDelivery[];
}

/** The end of an attempt. */
export interface StoredResult extends AfterAttempt {
  readonly endpointId: string;
  readonly eventId: string;
  /** The address that was called. */
  readonly url: string;
  readonly tries: number;
  readonly attempt: DeliveryAttempt;
  readonly endedAt: Date;
}

/** One delivery for each enabled endpoint of the organization that wants the event now. */
const WANTED: FanOut<'endpointId'> = {
  from: 'webhook_endpoints',
  where: `matching.organization_id = added.organization_id and matching.enabled and added.type = any(matching.events)
    and (matching.agent_ids is null or added.agent_id is null or added.agent_id = any(matching.agent_ids))`,
  values: { endpointId: 'matching.id' },
};

/** The deliveries of an event, as rows that the statement of the change inserts. */
export function deliveryRow({ id, organizationId, agentId, type, data, createdAt }: OrganizationEvent): TableRow {
  const of = { eventId: id, organizationId, agentId, type, data, createdAt };
  const unsent = { status: 'pending', tries: 0, attempts: [], nextAttemptAt: createdAt, deliveredAt: null } as const;
  return fanOutRow(StoredDelivery, { ...of, ...unsent }, WANTED);
}

@Injectable()
export class DeliveryRepository {
  constructor(private readonly database: Database) {}

  /** Stores the deliveries of an event in the transaction of the change that it reports. */
  async add(transaction: Transaction, event: OrganizationEvent): Promise<void> {
    for (const table of rowsByTable(this.database.orm, [deliveryRow(event)]))
      await sql.addDeliveries(table).run(transaction, { rows: table.rows });
  }

  /** Newest first. */
  async list(organizationId: string, endpointId: string, filter: DeliveryFilter): Promise<Delivery[]> {
    const { status, after, limit } = filter;
    const where = {
      ...{ organizationId, endpointId },
      ...(status !== null && { status }),
      ...(after !== null && { eventId: { $lt: after } }),
    };
    const options = { orderBy: { eventId: 'desc' }, limit, disableIdentityMap: true } as const;
    const rows = await this.database.read((em) => em.find(StoredDelivery, where, options));
    return rows.map(({ eventId: id, type, ...row }) => {
      const { createdAt, attempts, deliveredAt, nextAttemptAt } = row;
      return { id, type, status: row.status, createdAt, attempts, deliveredAt, nextAttemptAt };
    });
  }

  /** Makes the delivery due at once, with all its attempts. @returns whether there is one */
  async sendAgain(
    { em }: Transaction,
    { organizationId, id: endpointId }: EndpointRef,
    eventId: string,
    now: Date,
  ): Promise<boolean> {
    const where = { organizationId, endpointId, eventId };
    const again = { status: 'pending', tries: 0, nextAttemptAt: now, deliveredAt: null } as const;
    return (await em.nativeUpdate(StoredDelivery, where, again)) > 0;
  }

  /** What is owed to the endpoint has failed. */
  async failPending({ em }: Transaction, organizationId: string, endpointId: string): Promise<void> {
    const where = { organizationId, endpointId, status: 'pending' as const };
    await em.nativeUpdate(StoredDelivery, where, { status: 'failed', nextAttemptAt: null });
  }

  /** Takes endpoints of any organization with due deliveries, which this process then serves until the lease ends. */
  async leaseDue(leaseId: string, now: Date, limit: number): Promise<EndpointRef[]> {
    const parameters = { leaseId, leaseSeconds: LEASE_SECONDS, now, limit, failLimit: FAIL_BATCH };
    const rows = await sql.LEASE_DUE.run<sql.LeasedRow>(this.database, parameters);
    return rows.map(({ id, organization_id: organizationId }) => ({ id, organizationId }));
  }

  /** @returns the endpoints whose lease the process still has */
  async renewLeases(leaseId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const parameters = { leaseId, leaseSeconds: LEASE_SECONDS, ids };
    return new Set((await sql.RENEW_LEASES.run<{ id: string }>(this.database, parameters)).map(({ id }) => id));
  }

  async endLease(leaseId: string, endpointId: string): Promise<void> {
    await sql.END_LEASES.run(this.database, { leaseId, ids: [endpointId] });
  }

  /** @returns null when nothing is due, the process no longer has the lease, or the endpoint is switched off */
  async loadDue(endpointId: string, leaseId: string, now: Date): Promise<DueDeliveries | null> {
    const parameters = { endpointId, leaseId, now, limit: LOAD_BATCH };
    const rows = await sql.LOAD_DUE.run<sql.DueRow>(this.database, parameters);
    const [first] = rows;
    return first ? { url: first.url, isFailing: first.failing, deliveries: rows.map(toDue) } : null;
  }

  /** At most one result of each delivery. */
  async storeResults(results: readonly StoredResult[]): Promise<void> {
    const rows = results.map((result) => ({
      ...{ endpoint_id: result.endpointId, event_id: result.eventId, status: result.status, tries: result.tries },
      ...{ attempt: [result.attempt], ended_at: result.endedAt, next_attempt_at: result.nextAttemptAt },
      gone_url: isGone(result.attempt) ? result.url : null,
    }));
    await sql.STORE_RESULTS.run(this.database, { results: rows, keptAttempts: KEPT_ATTEMPTS });
  }

  /** @returns seconds since the oldest delivery of any organization became due; 0 if none is due */
  async oldestDueSeconds(now: Date): Promise<number> {
    const [row] = await sql.OLDEST_DUE.run<{ seconds: number | null }>(this.database, { now });
    return Math.max(0, row?.seconds ?? 0);
  }

  /** Of any organization. @returns how many; 0 means that none is left */
  async purgeSome(before: Date): Promise<number> {
    return (await sql.PURGE_DELIVERIES.run(this.database, { before, limit: PURGE_BATCH })).length;
  }

  /** Deletes deliveries of an endpoint that was deleted. @returns how many; 0 means that none is left */
  async removeSome(endpointId: string): Promise<number> {
    return (await sql.REMOVE_DELIVERIES.run(this.database, { endpointId, limit: PURGE_BATCH })).length;
  }
}

function toDue(row: sql.DueRow): DueDelivery {
  const data = EVENT_DATA.readText(row.data, row.event_id);
  const event = { id: row.event_id, type: row.type as EventType, createdAt: toDate(row.created_at), data };
  return { event, tries: row.tries };
}
