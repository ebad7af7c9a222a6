import { describe, expect, it } from '@jest/globals';
import { clusterOnly } from '../../support/modes.js';
import { LEFT_OPEN } from '../../support/hook-server.js';
import { until } from '../../support/until.js';
import { useHookServer, useHookService } from '../hooks/support.js';
import { owe, WebhookOf } from './support.js';

const service = useHookService();
const server = useHookServer();

/** Webhooks with this many deliveries each whose endpoints never respond. */
async function hanging(count: number, deliveries: number): Promise<WebhookOf[]> {
  const all = [];
  for (let index = 0; index < count; index += 1) {
    const of = await WebhookOf.start(
      service,
      server.url(`/hanging/${index}`, () => LEFT_OPEN),
    );
    await owe(service, of, deliveries);
    all.push(of);
  }
  return all;
}

describe('endpoints that hang', () => {
  it('with 10,000 events each do not delay the event of another organization', async () => {
    await hanging(3, 10_000);
    await until(() => server.received.length >= 3 * 32, 'requests hang at each of them');
    const of = await WebhookOf.start(service, server.url('/prompt'));
    const began = performance.now();
    await of.run();
    const { attempts } = await of.newest(({ status }) => status === 'delivered');
    expect(attempts).toHaveLength(1);
    // Their requests time out after 10 seconds.
    expect(performance.now() - began).toBeLessThan(8_000);
    for (const index of [0, 1, 2]) expect(server.of(`/hanging/${index}`).length).toBeLessThanOrEqual(32);
  });
});

clusterOnly('two processes', () => {
  it('send each delivery once between them', async () => {
    const replica = await service.replica();
    try {
      const all = [];
      for (let index = 0; index < 6; index += 1) {
        const of = await WebhookOf.start(service, server.url(`/shared/${index}`));
        await owe(service, of, 200);
        all.push(of);
      }
      const shared = () => server.received.filter(({ path }) => path.startsWith('/shared/'));
      for (const of of all)
        await until(
          async () =>
            (await of.deliveries('?status=pending')).deliveries.length === 0 &&
            (await of.deliveries('?status=delivered')).deliveries.length > 0,
          'all are delivered',
          { everyMs: 50 },
        );
      const ids = shared().map(({ headers }) => headers['webhook-id']);
      expect([ids.length, new Set(ids).size]).toEqual([1_200, 1_200]);
    } finally {
      await replica.close();
    }
  });

  it('reuse the connections to an endpoint: 200 requests need far fewer', () => {
    const connections = new Set(
      server.received.filter(({ path }) => path === '/shared/0').map(({ connection }) => connection),
    );
    expect(connections.size).toBeLessThan(100);
  });
});
