import { z } from 'zod';
import type { Stored } from '../../platform/stored-json/index.js';

/** What endpoints can subscribe to. */
export const EVENT_TYPES = [
  'run.completed',
  'run.requires_action',
  'run.failed',
  'run.cancelled',
  'run.timed_out',
  'knowledge.sync_finished',
  'integration.needs_authorization',
  'credits.exhausted',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Sent by the test route alone. */
export const TEST_EVENT = 'webhook.test';

/** Ids alone: a receiver reads the rest with its own credential. */
export const eventData = z.object({
  assistant_id: z.string().optional(),
  thread_id: z.string().optional(),
  runId: z.string().optional(),
  sourceId: z.string().optional(),
  integrationId: z.string().optional(),
  periodId: z.string().optional(),
});
export type EventData = Stored<typeof eventData>;

export interface WebhookEvent {
  /** The same at each attempt and redelivery: receivers recognize duplicates by it. */
  readonly id: string;
  readonly type: EventType | typeof TEST_EVENT;
  readonly createdAt: Date;
  readonly data: EventData;
}

/** An event of an organization, before it is known which endpoints want it. */
export interface OrganizationEvent extends Omit<WebhookEvent, 'type'> {
  readonly type: EventType;
  readonly organizationId: string;
  /** The agent whose events endpoints may be limited to; null for an event of the organization, which they all receive. */
  readonly agentId: string | null;
}

export function eventBody({ id, type, createdAt, data }: WebhookEvent): string {
  return JSON.stringify({ id, type, createdAt: createdAt.toISOString(), data });
}
