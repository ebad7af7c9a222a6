import { describe, expect, it } from '@jest/globals';
import { clusterOnly } from '../../support/modes.js';
import { message } from '../../support/harness.js';
import { clientTool } from '../../support/client-tools.js';
import { calls, HeldReply, refuses, says } from '../../support/scripted-models.js';
import { until } from '../../support/until.js';
import { useHookServer, useHookService } from '../hooks/support.js';
import { completedRun, createWebhook, isVerified, WebhookOf } from './support.js';

const service = useHookService();
const server = useHookServer();

const ALL_RUNS = ['run.completed', 'run.requires_action', 'run.failed', 'run.cancelled', 'run.timed_out'];

describe('the end of a run', () => {
  it('is sent to the webhook, signed, with ids alone', async () => {
    const of = await WebhookOf.start(service, server.url('/completed'));
    const runId = await of.run();
    const delivery = await of.newest(({ status }) => status === 'delivered');
    const [call, ...others] = server.of('/completed');
    if (!call) throw new Error('The endpoint was not called');
    expect(others).toEqual([]);
    expect(isVerified(call, of.webhook.secret)).toBe(true);
    expect(call.headers['webhook-id']).toBe(delivery.id);
    expect(call.input).toEqual({
      id: delivery.id,
      type: 'run.completed',
      createdAt: delivery.createdAt,
      data: { assistant_id: of.agentId, thread_id: of.threadId, runId },
    });
    expect(delivery).toEqual({
      id: delivery.id,
      type: 'run.completed',
      status: 'delivered',
      createdAt: expect.any(String),
      attempts: [{ at: expect.any(String), status: 200, error: null, latencyMs: expect.any(Number) }],
      deliveredAt: expect.any(String),
      nextAttemptAt: null,
    });
  });

  it('is an event by its status', async () => {
    const of = await WebhookOf.start(service, server.url('/statuses'), { events: ALL_RUNS });
    service.models.next(refuses(400));
    await service.http('POST', `/v1/threads/${of.threadId}/runs`, { key: of.key, body: message('Hi') });
    await of.newest(({ type, status }) => type === 'run.failed' && status === 'delivered');
    const held = new HeldReply(['Some'], ['more'], { input: 1, output: 1 });
    service.models.next(held.script);
    const path = `/v1/threads/${of.threadId}/runs`;
    for await (const { event } of service.stream(`${path}/stream`, { key: of.key, body: message('Hi') })) {
      if (event.type !== 'RUN_STARTED') continue;
      await service.http('POST', `${path}/${String(event['runId'])}/cancel`, { key: of.key });
    }
    held.finish();
    await of.newest(({ type, status }) => type === 'run.cancelled' && status === 'delivered');
    service.models.next(calls('weather'));
    await service.http('POST', path, { key: of.key, body: message('Hi', { tools: [clientTool('weather')] }) });
    await of.newest(({ type, status }) => type === 'run.requires_action' && status === 'delivered');
    const types = server.of('/statuses').map(({ input }) => input['type']);
    expect(types).toEqual(['run.failed', 'run.cancelled', 'run.requires_action']);
  });

  it('reaches each webhook that wants it, and no other', async () => {
    const of = await WebhookOf.start(service, server.url('/first'));
    const otherAgent = await service.agent(of.key);
    const create = (path: string, body: object) =>
      createWebhook(service, of.key, { url: server.url(path), events: ['run.completed'], ...body });
    await create('/second', { assistant_ids: [of.agentId] });
    await create('/other-agent', { assistant_ids: [otherAgent] });
    await create('/other-event', { events: ['run.failed'] });
    const off = await create('/switched-off', {});
    await service.http('PATCH', `/v1/webhooks/${off.id}`, { key: of.key, body: { enabled: false } });
    const foreign = await WebhookOf.start(service, server.url('/foreign'));
    await of.run();
    await create('/too-late', {});
    await until(() => server.of('/first').length + server.of('/second').length === 2, 'both are called');
    const stored = await service.database.query(
      'select 1 from webhook_deliveries where organization_id = any($1::uuid[])',
      [[of.organization.id, foreign.organization.id]],
    );
    expect(stored).toHaveLength(2);
    const [one, two] = [server.of('/first')[0], server.of('/second')[0]];
    expect(one?.headers['webhook-id']).toBe(two?.headers['webhook-id']);
    expect(one?.headers['webhook-signature']).not.toBe(two?.headers['webhook-signature']);
    for (const path of ['/other-agent', '/other-event', '/switched-off', '/foreign', '/too-late'])
      expect(server.of(path)).toEqual([]);
  });

  it('stores nothing for an organization without webhooks', async () => {
    const { id, key } = await service.organization();
    const thread = await service.thread(key, await service.agent(key));
    service.models.next(says('Hello'));
    await completedRun(service, key, thread);
    const rows = await service.database.query('select 1 from webhook_deliveries where organization_id = $1::uuid', [
      id,
    ]);
    expect(rows).toEqual([]);
  });
});

// Embedded there is one process, which does not look for endpoints that another one has made.
clusterOnly('the end of a run of another process', () => {
  it('is stored with the deliveries of a webhook that was made in the moment before', async () => {
    const { key } = await service.organization();
    const thread = await service.thread(key, await service.agent(key));
    const replica = await service.replica();
    try {
      const { id } = await createWebhook(service, key, { url: server.url('/just-made'), events: ['run.completed'] });
      service.models.next(says('Hello'));
      await completedRun(replica, key, thread);
      const rows = await service.database.query('select 1 from webhook_deliveries where endpoint_id = $1::uuid', [id]);
      expect(rows).toHaveLength(1);
    } finally {
      await replica.close();
    }
  });
});
