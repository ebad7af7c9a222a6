import { describe, expect, it } from '@jest/globals';
import { clusterOnly } from '../../support/modes.js';
import { LEFT_OPEN } from '../../support/hook-server.js';
import { until } from '../../support/until.js';
import { useHookServer, useHookService } from '../hooks/support.js';
import { owe, WebhookOf } from './support.js';

const service = useHookService();
const server = useHookServer();

describe('endpoints that hang', () => {
  it('with 10,000 events each do not delay the event of another organization', async () => {
    const paths = [0, 1, 2].map((index) => `/hanging/${index}`);
    const hanging = await Promise.all(
      paths.map((path) =>
        WebhookOf.start(
          service,
          server.url(path, () => LEFT_OPEN),
        ),
      ),
    );
    let requests: number[] | undefined;
    const prompt = server.url('/prompt', () => {
      requests ??= paths.map((path) => server.of(path).length);
      return {};
    });
    const of = await WebhookOf.start(service, prompt);
    await Promise.all(hanging.map((each) => owe(service, each, 10_000)));
    await until(() => server.received.length >= 3 * 32, 'requests hang at each of them');
    await of.run();
    const { attempts } = await of.newest(({ status }) => status === 'delivered');
    expect(attempts).toHaveLength(1);
    // A request that has timed out, after 10 seconds, is followed by another.
    expect(requests).toEqual([32, 32, 32]);
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
