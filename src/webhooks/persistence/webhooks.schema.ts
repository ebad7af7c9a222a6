import { defineEntity, p } from '@mikro-orm/core';
import { type ContextSchema, JsonDocument } from '../../platform/database/index.js';
import { deliveryAttempts, type DeliveryStatus } from '../domain/delivery.js';
import type { DisabledReason } from '../domain/endpoint.js';
import { eventData, type EventType } from '../domain/webhook-event.js';

export const EVENT_DATA = new JsonDocument('webhook_deliveries.data', eventData);
const ATTEMPTS = new JsonDocument('webhook_deliveries.attempts', deliveryAttempts);

/** Columns that only statements of `deliveries.sql.ts` use are not mapped. */
export const StoredEndpoint = defineEntity({
  name: 'StoredWebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    url: p.text(),
    events: p.array().columnType('text[]').$type<EventType[]>(),
    agentIds: p.array().columnType('uuid[]').strictNullable(),
    description: p.text().strictNullable(),
    enabled: p.boolean(),
    disabledReason: p.text().$type<DisabledReason>().strictNullable(),
    /** When an attempt failed after which none has succeeded. */
    failingSince: p.datetime(3).strictNullable(),
    createdAt: p.datetime(3),
  },
});

/** One event for one endpoint. */
export const StoredDelivery = defineEntity({
  name: 'StoredWebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    endpointId: p.uuid().primary(),
    eventId: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid().strictNullable(),
    type: p.text().$type<EventType>(),
    data: EVENT_DATA.property(),
    status: p.text().$type<DeliveryStatus>(),
    /** Since the event, or since it was last sent again by hand. */
    tries: p.integer(),
    attempts: ATTEMPTS.property(),
    createdAt: p.datetime(3),
    nextAttemptAt: p.datetime(3).strictNullable(),
    deliveredAt: p.datetime(3).strictNullable(),
  },
});

/**
 * Deliveries have no foreign keys. With one, the statement that ends a run would wait for the deletion of an endpoint, and then fail
 * because the endpoint is gone. A job deletes the rows of a deleted endpoint; the trigger those of an organization.
 */
const base = [
  `create table webhook_endpoints (
    id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    url text not null,
    events text[] not null,
    agent_ids uuid[],
    description text,
    enabled boolean not null,
    disabled_reason text check (disabled_reason in ('gone', 'failing')),
    failing_since timestamptz(3),
    created_at timestamptz(3) not null,
    lease_id uuid,
    leased_until timestamptz
  )`,
  'create index webhook_endpoints_organization on webhook_endpoints (organization_id, id)',
  // The ids of events begin with their time, so the primary key is also the order of an endpoint's list.
  `create table webhook_deliveries (
    endpoint_id uuid not null,
    event_id uuid not null,
    organization_id uuid not null,
    agent_id uuid,
    type text not null,
    data jsonb not null,
    status text not null check (status in ('pending', 'delivered', 'failed')),
    tries integer not null,
    attempts jsonb not null,
    created_at timestamptz(3) not null,
    next_attempt_at timestamptz(3) check ((next_attempt_at is not null) = (status = 'pending')),
    delivered_at timestamptz(3),
    primary key (endpoint_id, event_id)
  )`,
  `create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at) where status = 'pending'`,
  `create index webhook_deliveries_undelivered on webhook_deliveries (endpoint_id, status, event_id)
    where status <> 'delivered'`,
  'create index webhook_deliveries_age on webhook_deliveries (created_at)',
  `create function delete_webhook_deliveries_of_organization() returns trigger language plpgsql as $$
  begin
    delete from webhook_deliveries where endpoint_id in (select id from webhook_endpoints where organization_id = old.id);
    return old;
  end $$`,
  // Before, because a cascade deletes the endpoints.
  `create trigger with_its_webhook_deliveries before delete on organizations
    for each row execute function delete_webhook_deliveries_of_organization()`,
];

export const webhooksSchema: ContextSchema = { entities: [StoredEndpoint, StoredDelivery], base };
