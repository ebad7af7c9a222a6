import {
  BooleanField,
  EnumField,
  EnumListField,
  IntegerField,
  ObjectListField,
  QueryIntegerField,
  QueryStringField,
  StringField,
  TimestampField,
  UuidField,
  UuidListField,
} from '../../platform/http/index.js';
import { DELIVERY_STATUSES, type DeliveryAttempt, type DeliveryStatus } from '../domain/delivery.js';
import {
  DISABLED_REASONS,
  type DisabledReason,
  type Endpoint,
  type EndpointChanges,
  type EndpointSettings,
} from '../domain/endpoint.js';
import { EVENT_TYPES, type EventType } from '../domain/webhook-event.js';
import { DELIVERIES, MAX_AGENTS, MAX_DESCRIPTION, MAX_URL } from '../limits.js';
import type { Delivery } from '../persistence/delivery.repository.js';

const EVENTS =
  'Which events it receives: the end of a run by its status, a sync of knowledge that ended, a tool integration whose server asks ' +
  "for a sign-in, and the use of the last of a month's included credits.";
const AGENTS =
  'Of events of agents, only those of these agents; null for all. Events of the organization are sent either way.';
const DESCRIPTION = 'For people.';
const URL_DESCRIPTION =
  'An https URL at a public address, without user information. It is shown to everyone who may read webhooks, so it should hold no secret.';
const URL_BOUNDS = { min: 1, max: MAX_URL } as const;

export class CreateWebhookBody {
  @StringField({ ...URL_BOUNDS, description: URL_DESCRIPTION })
  readonly url!: string;
  @EnumListField(EVENT_TYPES, { description: EVENTS })
  readonly events!: EventType[];
  @UuidListField({ min: 1, max: MAX_AGENTS, unique: true, optional: true, nullable: true, description: AGENTS })
  readonly assistant_ids?: string[] | null;
  @StringField({ max: MAX_DESCRIPTION, optional: true, nullable: true, description: DESCRIPTION })
  readonly description?: string | null;
}

export class ChangeWebhookBody {
  @StringField({ ...URL_BOUNDS, optional: true, description: URL_DESCRIPTION })
  readonly url?: string;
  @EnumListField(EVENT_TYPES, { optional: true, description: EVENTS })
  readonly events?: EventType[];
  @UuidListField({ min: 1, max: MAX_AGENTS, unique: true, optional: true, nullable: true, description: AGENTS })
  readonly assistant_ids?: string[] | null;
  @StringField({ max: MAX_DESCRIPTION, optional: true, nullable: true, description: DESCRIPTION })
  readonly description?: string | null;
  @BooleanField({
    optional: true,
    description: 'A webhook that is switched off receives nothing, from two seconds later on.',
  })
  readonly enabled?: boolean;
}

export class WebhookResponse {
  @UuidField({ description: 'Identifies the webhook.' })
  readonly id!: string;
  @StringField({ description: 'Where events are sent.' })
  readonly url!: string;
  @EnumListField(EVENT_TYPES, { description: EVENTS })
  readonly events!: readonly EventType[];
  @UuidListField({ nullable: true, description: AGENTS })
  readonly assistant_ids!: readonly string[] | null;
  @StringField({ nullable: true, description: DESCRIPTION })
  readonly description!: string | null;
  @BooleanField({ description: 'Whether it receives events.' })
  readonly enabled!: boolean;
  @EnumField(DISABLED_REASONS, {
    nullable: true,
    description:
      'Why the service switched it off: `gone`, it responded with 410; `failing`, nothing was delivered for five days. Null while it is ' +
      'enabled, and when a caller switched it off.',
  })
  readonly disabledReason!: DisabledReason | null;
  @TimestampField({ description: 'When it was created.' })
  readonly createdAt!: string;
}

export class CreatedWebhookResponse extends WebhookResponse {
  @StringField({
    description:
      'Signs what is sent, in the format of Standard Webhooks: `whsec_` and base64. Shown only in this response.',
  })
  readonly secret!: string;
}

export class WebhookListResponse {
  @ObjectListField(() => WebhookResponse, { description: 'Oldest first.' })
  readonly webhooks!: readonly WebhookResponse[];
}

export class WebhookSecretResponse {
  @StringField({ description: 'In the format of Standard Webhooks: `whsec_` and base64. Shown only in this response.' })
  readonly secret!: string;
  @TimestampField({ description: 'When it was created. The previous secret also signs for 24 more hours.' })
  readonly createdAt!: string;
}

export class WebhookTestResponse {
  @BooleanField({ description: 'Whether it responded with a 2xx status within 10 seconds.' })
  readonly delivered!: boolean;
  @IntegerField({ nullable: true, description: 'The status of the response; null without one.' })
  readonly status!: number | null;
  @StringField({ nullable: true, description: 'Why it counts as not delivered.' })
  readonly error!: string | null;
  @IntegerField({ min: 0, description: 'How long it took, in milliseconds.' })
  readonly latencyMs!: number;
}

export class ListDeliveriesQuery {
  @EnumField(DELIVERY_STATUSES, { optional: true, description: 'Only deliveries with this status.' })
  readonly status?: DeliveryStatus;
  @QueryStringField({ optional: true, description: 'The `nextCursor` of the previous page, with the same `status`.' })
  readonly cursor?: string;
  @QueryIntegerField({
    optional: true,
    min: 1,
    max: DELIVERIES.max,
    description: `The default is ${DELIVERIES.default}.`,
  })
  readonly limit: number = DELIVERIES.default;
}

export class DeliveryAttemptResponse {
  @TimestampField({ description: 'When it began.' })
  readonly at!: string;
  @IntegerField({ nullable: true, description: 'The status of the response; null without one.' })
  readonly status!: number | null;
  @StringField({ nullable: true, description: 'Why it counts as failed; null for the delivery.' })
  readonly error!: string | null;
  @IntegerField({ min: 0, description: 'How long it took, in milliseconds.' })
  readonly latencyMs!: number;
}

export class DeliveryResponse {
  @UuidField({ description: "The event's `id`, which is the `webhook-id` of each request." })
  readonly id!: string;
  @EnumField(EVENT_TYPES, { description: 'What happened.' })
  readonly type!: EventType;
  @EnumField(DELIVERY_STATUSES, {
    description: '`pending`: it will be sent, again if there were attempts. `failed`: after the last attempt.',
  })
  readonly status!: DeliveryStatus;
  @TimestampField({ description: 'When it happened.' })
  readonly createdAt!: string;
  @ObjectListField(() => DeliveryAttemptResponse, { description: 'Oldest first; of more than 20 the last ones.' })
  readonly attempts!: readonly DeliveryAttemptResponse[];
  @TimestampField({ nullable: true, description: 'When it was delivered; null unless it is.' })
  readonly deliveredAt!: string | null;
  @TimestampField({ nullable: true, description: 'When it is sent next, at the earliest; null unless it is pending.' })
  readonly nextAttemptAt!: string | null;
}

export class DeliveryListResponse {
  @ObjectListField(() => DeliveryResponse, { description: 'Newest first.' })
  readonly deliveries!: readonly DeliveryResponse[];
  @StringField({ nullable: true, description: 'Opaque; null on the last page.' })
  readonly nextCursor!: string | null;
}

export class RedeliveryResponse {
  @UuidField({ description: 'The delivery that is sent again.' })
  readonly id!: string;
  @EnumField(['pending'], { description: 'It is due now.' })
  readonly status!: 'pending';
}

export function toSettings({ url, events, ...body }: CreateWebhookBody): EndpointSettings {
  return { url, events, agentIds: body.assistant_ids ?? null, description: body.description ?? null };
}

export function toChanges({ assistant_ids: agentIds, ...changes }: ChangeWebhookBody): EndpointChanges {
  const given = { ...changes, agentIds };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

export function webhookView(endpoint: Endpoint): WebhookResponse {
  return fieldsOf(endpoint);
}

export function createdWebhookView(endpoint: Endpoint, secret: string): CreatedWebhookResponse {
  return { ...fieldsOf(endpoint), secret };
}

function fieldsOf({ id, url, events, agentIds, description, enabled, disabledReason, createdAt }: Endpoint) {
  const state = { enabled, disabledReason, createdAt: createdAt.toISOString() };
  return { id, url, events, assistant_ids: agentIds, description, ...state };
}

export function testView({ status, error, latencyMs }: DeliveryAttempt): WebhookTestResponse {
  return { delivered: error === null, status, error, latencyMs };
}

export function deliveryView({ createdAt, deliveredAt, nextAttemptAt, ...delivery }: Delivery): DeliveryResponse {
  return {
    ...delivery,
    createdAt: createdAt.toISOString(),
    deliveredAt: deliveredAt?.toISOString() ?? null,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
  };
}
