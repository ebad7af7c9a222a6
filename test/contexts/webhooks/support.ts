import { Webhook } from 'standardwebhooks';
import { SystemClock } from '../../../src/platform/clock/index.js';
import { type Answer, message, type TestOrganization, type TestService, until } from '../../support/harness.js';
import type { ReceivedHook } from '../../support/hook-server.js';
import { says } from '../../support/scripted-models.js';

/** A wall clock that tests set forward without waking timers. */
export class SetClock extends SystemClock {
  private forth = 0;

  override now(): Date {
    return new Date(super.now().getTime() + this.forth);
  }

  forward(ms: number): void {
    this.forth += ms;
  }
}

export interface WebhookView {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly assistant_ids: readonly string[] | null;
  readonly description: string | null;
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly createdAt: string;
}

export interface AttemptView {
  readonly at: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly latencyMs: number;
}

export interface DeliveryView {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly createdAt: string;
  readonly attempts: readonly AttemptView[];
  readonly deliveredAt: string | null;
  readonly nextAttemptAt: string | null;
}

export interface DeliveriesPage {
  readonly deliveries: readonly DeliveryView[];
  readonly nextCursor: string | null;
}

/** An organization with one webhook, and an agent and a thread whose runs cause events. */
export class WebhookOf {
  private constructor(
    private readonly service: TestService,
    readonly organization: TestOrganization,
    readonly agentId: string,
    readonly threadId: string,
    readonly webhook: WebhookView & { readonly secret: string },
  ) {}

  static async start(
    service: TestService,
    url: string,
    body: Readonly<Record<string, unknown>> = {},
  ): Promise<WebhookOf> {
    const organization = await service.organization();
    const agentId = await service.agent(organization.key);
    const threadId = await service.thread(organization.key, agentId);
    const created = await createWebhook(service, organization.key, { url, events: ['run.completed'], ...body });
    return new WebhookOf(service, organization, agentId, threadId, created);
  }

  get key(): string {
    return this.organization.key;
  }

  /** A run of the thread that completes. @returns its id */
  async run(): Promise<string> {
    this.service.models.next(says('Hello'));
    return completedRun(this.service, this.key, this.threadId);
  }

  ask<Body = Record<string, unknown>>(method: string, path = '', body?: unknown): Promise<Answer<Body>> {
    return this.service.http<Body>(method, `/v1/webhooks/${this.webhook.id}${path}`, { key: this.key, body });
  }

  async read(): Promise<WebhookView> {
    return (await this.ask<WebhookView>('GET')).body;
  }

  async deliveries(query = ''): Promise<DeliveriesPage> {
    return (await this.ask<DeliveriesPage>('GET', `/deliveries${query}`)).body;
  }

  /** The newest delivery, once it is as wanted. */
  async newest(isWanted: (delivery: DeliveryView) => boolean): Promise<DeliveryView> {
    let newest: DeliveryView | undefined;
    await until(async () => {
      [newest] = (await this.deliveries()).deliveries;
      return newest !== undefined && isWanted(newest);
    }, 'the newest delivery is as wanted');
    if (!newest) throw new Error('There is no delivery');
    return newest;
  }
}

export async function createWebhook(
  service: TestService,
  key: string,
  body: Readonly<Record<string, unknown>>,
): Promise<WebhookView & { readonly secret: string }> {
  const answer = await service.http<WebhookView & { secret: string }>('POST', '/v1/webhooks', { key, body });
  if (answer.status !== 201) throw new Error(`webhook: ${answer.status} ${answer.text}`);
  return answer.body;
}

/** @returns its id */
export async function completedRun(service: TestService, key: string, threadId: string): Promise<string> {
  const answer = await service.http<{ run: { id: string } }>('POST', `/v1/threads/${threadId}/runs`, {
    key,
    body: message('Hello'),
  });
  if (answer.status !== 200) throw new Error(`run: ${answer.status} ${answer.text}`);
  return answer.body.run.id;
}

/** Stores events of the webhook's organization as if so many runs had ended. */
export async function owe(
  service: TestService,
  { organization, webhook, agentId }: WebhookOf,
  count: number,
): Promise<void> {
  await service.database.query(
    `insert into webhook_deliveries (endpoint_id, event_id, organization_id, agent_id, type, data, status, tries, attempts, created_at,
       next_attempt_at)
     select $1::uuid, gen_random_uuid(), $2::uuid, $3::uuid, 'run.completed', '{}', 'pending', 0, '[]', $4::timestamptz, $4::timestamptz
     from generate_series(1, $5::int)`,
    [webhook.id, organization.id, agentId, service.clock.now().toISOString(), count],
  );
}

/** Whether the reference implementation accepts the request with the secret. */
export function isVerified({ headers, text }: ReceivedHook, secret: string): boolean {
  try {
    new Webhook(secret).verify(text, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
