import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import type { Answer, TestOrganization } from '../../support/harness.js';
import type { ReceivedHook } from '../../support/hook-server.js';
import { rowsOutsideVault } from '../hooks/hooks-of.js';
import { useHookServer, useHookService } from '../hooks/support.js';
import { createWebhook, isVerified, SetClock, WebhookOf, type WebhookView } from './support.js';

const HOUR = 3_600_000;

const clock = new SetClock();
const service = useHookService({ clock });
const server = useHookServer();
let organization: TestOrganization;
let agentId: string;
beforeAll(async () => {
  organization = await service.organization();
  agentId = await service.agent(organization.key);
});

function post(body: object, key = organization.key): Promise<Answer<WebhookView>> {
  return service.http<WebhookView>('POST', '/v1/webhooks', { key, body });
}

const valid = { url: 'https://example.com/events', events: ['run.completed'] };

describe('a webhook', () => {
  it('is created with its secret, and read without it', async () => {
    const { key } = await service.organization();
    const { status, body } = await post({ ...valid, description: 'CRM' }, key);
    expect(status).toBe(201);
    const { secret, ...rest } = body as WebhookView & { secret: string };
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rest).toEqual({
      id: expect.any(String),
      url: 'https://example.com/events',
      events: ['run.completed'],
      assistant_ids: null,
      description: 'CRM',
      enabled: true,
      disabledReason: null,
      createdAt: expect.any(String),
    });
    expect((await service.http('GET', '/v1/webhooks', { key })).body).toEqual({ webhooks: [rest] });
    expect((await service.http('GET', `/v1/webhooks/${rest.id}`, { key })).body).toEqual(rest);
    const bare = secret.slice('whsec_'.length);
    expect(JSON.stringify(await rowsOutsideVault(service))).not.toContain(bare);
  });

  it('keeps what a change leaves out, and is gone after its deletion', async () => {
    const of = await createWebhook(service, organization.key, { ...valid, assistant_ids: [agentId] });
    const { secret: _secret, ...before } = of;
    const path = `/v1/webhooks/${of.id}`;
    const { key } = organization;
    const renamed = await service.http('PATCH', path, { key, body: { description: 'Other' } });
    expect([renamed.status, renamed.body]).toEqual([200, { ...before, description: 'Other' }]);
    const all = await service.http('PATCH', path, { key, body: { assistant_ids: null, enabled: false } });
    expect(all.body).toEqual({ ...before, description: 'Other', assistant_ids: null, enabled: false });
    expect((await service.http('DELETE', path, { key })).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect((await service.http(method, path, { key })).status).toBe(404);
    const secrets = await service.database.query('select 1 from secrets where record_id = $1::uuid', [of.id]);
    expect(secrets).toEqual([]);
  });

  it.each([
    ['an http URL', { ...valid, url: 'http://example.com/' }, 'url'],
    ['a URL with user information', { ...valid, url: 'https://me:secret@example.com/' }, 'url'],
    ['text that is no URL', { ...valid, url: 'example.com' }, 'url'],
    ['no event', { ...valid, events: [] }, 'events'],
    ['an unknown event', { ...valid, events: ['run.started'] }, 'events'],
    ['an event twice', { ...valid, events: ['run.failed', 'run.failed'] }, 'events'],
    ['the event of tests', { ...valid, events: ['webhook.test'] }, 'events'],
    ['an empty list of agents', { ...valid, assistant_ids: [] }, 'assistant_ids'],
    ['an unknown agent', { ...valid, assistant_ids: [newId()] }, 'assistant_ids'],
    ['an unknown field', { ...valid, secret: 'mine' }, 'secret'],
  ])('is refused with %s, and nothing is stored', async (_what, body, field) => {
    const { key } = await service.organization();
    const answer = await service.http('POST', '/v1/webhooks', { key, body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION', error: 'bad_request' } });
    expect(answer.body['message']).toContain(field);
    expect((await service.http('GET', '/v1/webhooks', { key })).body).toEqual({ webhooks: [] });
  });

  it("cannot be limited to another organization's agent, which reads like an absent one", async () => {
    const other = await service.organization();
    const foreign = await service.agent(other.key);
    const absent = newId();
    const [one, two] = [
      await post({ ...valid, assistant_ids: [foreign] }),
      await post({ ...valid, assistant_ids: [absent] }),
    ];
    expect(one.status).toBe(400);
    expect(one.text.replace(foreign, absent)).toBe(two.text);
  });

  it('is the last one at 20, also when requests compete for it', async () => {
    const { key } = await service.organization();
    const answers = await Promise.all(Array.from({ length: 22 }, () => post(valid, key)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(20).fill(201), 409, 409]);
    expect((await post(valid, key)).body).toMatchObject({ code: 'webhook_limit', error: 'conflict' });
  });

  it('is out of reach of keys without the capability, and of keys with an allowlist', async () => {
    const chat = await organization.keyWith(['chat']);
    const limited = await organization.keyWith(['manageAgents'], [agentId]);
    const ask = (key: string) => service.http('GET', '/v1/webhooks', { key });
    expect(await ask(chat.key)).toMatchObject({ status: 403, body: { code: 'forbidden_by_key_role' } });
    expect(await ask(limited.key)).toMatchObject({
      status: 403,
      body: { code: 'forbidden_org_endpoint_for_scoped_key' },
    });
  });

  it('is absent before its body is judged', async () => {
    const answer = await service.http('PATCH', `/v1/webhooks/${newId()}`, { key: organization.key, body: { no: 1 } });
    expect(answer.status).toBe(404);
  });
});

/** Which secrets sign the request, by the time of the service. */
function verifying(call: ReceivedHook, secrets: readonly string[]): boolean[] {
  const today = jest.spyOn(Date, 'now').mockReturnValue(clock.now().getTime());
  try {
    return secrets.map((secret) => isVerified(call, secret));
  } finally {
    today.mockRestore();
  }
}

describe('a test', () => {
  it('sends one signed event without data, tells how it went, and leaves no delivery', async () => {
    const of = await WebhookOf.start(service, server.url('/tested'));
    const answer = await of.ask('POST', '/test');
    expect([answer.status, answer.body]).toEqual([
      200,
      { delivered: true, status: 200, error: null, latencyMs: expect.any(Number) },
    ]);
    const [call, ...others] = server.of('/tested');
    if (!call) throw new Error('The endpoint was not called');
    expect([others, verifying(call, [of.webhook.secret])]).toEqual([[], [true]]);
    expect(call.input).toEqual({
      id: call.headers['webhook-id'],
      type: 'webhook.test',
      createdAt: expect.any(String),
      data: {},
    });
    expect((await of.deliveries()).deliveries).toEqual([]);
  });

  it('tells that an endpoint failed, without its response, also of one that is switched off', async () => {
    const url = server.url('/refusing', (_call, response) => response.writeHead(503).end('{"internal":"secret"}'));
    const of = await WebhookOf.start(service, url);
    await of.ask('PATCH', '', { enabled: false });
    expect((await of.ask('POST', '/test')).body).toEqual({
      delivered: false,
      status: 503,
      error: 'The endpoint responded with the status 503.',
      latencyMs: expect.any(Number),
    });
    expect(await of.read()).toMatchObject({ enabled: false, disabledReason: null });
  });

  it('says that a host is unknown or internal in the same words', async () => {
    const texts = [];
    for (const url of ['https://nowhere.invalid/', 'https://10.0.0.1/', 'https://192.168.0.1/']) {
      const of = await createWebhook(service, organization.key, { ...valid, url });
      const { body } = await service.http('POST', `/v1/webhooks/${of.id}/test`, { key: organization.key });
      texts.push(body['error']);
    }
    expect(new Set(texts)).toEqual(new Set(['The host of the URL does not resolve to public addresses.']));
  });
});

describe('a rotation', () => {
  it('lets both secrets sign for 24 hours, and then only the new one', async () => {
    const of = await WebhookOf.start(service, server.url('/rotated'));
    const first = of.webhook.secret;
    const { status, body } = await of.ask<{ secret: string; createdAt: string }>('POST', '/secret');
    expect([status, body]).toEqual([200, { secret: expect.stringMatching(/^whsec_/), createdAt: expect.any(String) }]);
    const signed = async (): Promise<boolean[]> => {
      await of.ask('POST', '/test');
      const call = server.of('/rotated').at(-1);
      if (!call) throw new Error('The endpoint was not called');
      return verifying(call, [first, body.secret]);
    };
    expect(await signed()).toEqual([true, true]);
    expect(String(server.of('/rotated').at(-1)?.headers['webhook-signature']).split(' ')).toHaveLength(2);
    clock.forward(24 * HOUR - 60_000);
    expect(await signed()).toEqual([true, true]);
    clock.forward(120_000);
    expect(await signed()).toEqual([false, true]);
  });
});
