import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { PurgeDeliveries } from '../../../src/webhooks/jobs/purge-deliveries.job.js';
import { SwitchOffFailing } from '../../../src/webhooks/jobs/switch-off-failing.job.js';
import { LEFT_OPEN } from '../../support/hook-server.js';
import { until } from '../../support/until.js';
import { useHookServer, useHookService } from '../hooks/support.js';
import { type DeliveryView, owe, SetClock, WebhookOf } from './support.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const clock = new SetClock();
const service = useHookService({ clock });
const server = useHookServer();
let paths = 0;

/** A webhook whose endpoint responds with this status until the test says otherwise. */
async function responding(status: number, headers: () => Readonly<Record<string, string>> = () => ({})) {
  paths += 1;
  const path = `/responding/${paths}`;
  const endpoint = { status };
  const url = server.url(path, (_call, response) =>
    response.writeHead(endpoint.status, headers()).end('a secret body'),
  );
  return { of: await WebhookOf.start(service, url), path, endpoint };
}

const attempted = (count: number) => (delivery: DeliveryView) => delivery.attempts.length === count;

/** Milliseconds from the end of the last attempt to the next one. */
function pauseOf({ attempts, nextAttemptAt }: DeliveryView): number {
  const { at, latencyMs } = attempts.at(-1)!;
  return Date.parse(String(nextAttemptAt)) - Date.parse(at) - latencyMs;
}

describe('a delivery that fails', () => {
  it('is repeated after 5 s, 1, 5 and 30 minutes, 2, 5 and 10 hours, and then has failed', async () => {
    const { of, path } = await responding(500);
    await of.run();
    const pauses = [];
    for (let count = 1; count <= 7; count += 1) {
      const delivery = await of.newest(attempted(count));
      expect(delivery.status).toBe('pending');
      pauses.push(pauseOf(delivery));
      clock.forward(pauseOf(delivery) + SECOND);
    }
    const wanted = [5 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR];
    for (const [index, pause] of pauses.entries()) expect(Math.abs(pause - (wanted[index] ?? 0))).toBeLessThan(500);
    const failed = await of.newest(attempted(8));
    expect(failed).toMatchObject({ status: 'failed', nextAttemptAt: null, deliveredAt: null });
    expect(new Set(failed.attempts.map(({ status, error }) => `${status} ${error}`))).toEqual(
      new Set(['500 The endpoint responded with the status 500.']),
    );
    expect(new Set(server.of(path).map(({ headers }) => headers['webhook-id']))).toEqual(new Set([failed.id]));
    expect(new Set(server.of(path).map(({ text }) => text)).size).toBe(1);
  });

  it('is delivered by a later attempt', async () => {
    const { of, endpoint } = await responding(503);
    await of.run();
    const { id } = await of.newest(attempted(1));
    endpoint.status = 204;
    clock.forward(6 * SECOND);
    expect(await of.newest(attempted(2))).toMatchObject({ id, status: 'delivered', nextAttemptAt: null });
  });

  it.each([
    ['seconds', () => '120', 120 * SECOND],
    ['a date', () => new Date(clock.now().getTime() + 300 * SECOND).toUTCString(), 300 * SECOND],
    ['more than an hour, which is ignored', () => '3601', 5 * SECOND],
    ['less than the pause, which stays', () => '1', 5 * SECOND],
  ])('waits as long as Retry-After asks: %s', async (_what, value, wanted) => {
    const { of } = await responding(429, () => ({ 'retry-after': value() }));
    await of.run();
    expect(Math.abs(pauseOf(await of.newest(attempted(1))) - wanted)).toBeLessThan(1_500);
  });

  it('does not follow a redirect', async () => {
    const target = server.url('/target');
    const { of } = await responding(307, () => ({ location: target }));
    await of.run();
    const { attempts } = await of.newest(attempted(1));
    expect(attempts[0]).toMatchObject({
      status: 307,
      error: 'The endpoint responded with the status 307; redirects are not followed.',
    });
    expect(server.of('/target')).toEqual([]);
  });
});

describe('an endpoint', () => {
  it('that responds with 410 is switched off at once and says so, and what is owed to it has failed', async () => {
    const { of, path } = await responding(410);
    await owe(service, of, 2_500);
    await until(async () => !(await of.read()).enabled, 'it is switched off');
    expect(await of.read()).toMatchObject({ enabled: false, disabledReason: 'gone' });
    await until(
      async () => (await of.deliveries('?status=pending')).deliveries.length === 0,
      'what is owed to it has failed',
    );
    const [row] = await service.database.query<{ failed: number }>(
      `select count(*)::int as failed from webhook_deliveries where endpoint_id = $1::uuid and status = 'failed'`,
      [of.webhook.id],
    );
    expect(row?.failed).toBe(2_500);
    // No more than were under way when the first response arrived, and those that waited for their results to be stored.
    expect(server.of(path).length).toBeLessThanOrEqual(64);
  });

  it('that is switched on again receives what happens from then on, and nothing of before', async () => {
    const { of, path, endpoint } = await responding(410);
    await of.run();
    await until(async () => !(await of.read()).enabled, 'it is switched off');
    await of.run();
    endpoint.status = 200;
    expect((await of.ask('PATCH', '', { enabled: true })).body).toMatchObject({ enabled: true, disabledReason: null });
    await of.run();
    await of.newest(({ status }) => status === 'delivered');
    expect((await of.deliveries()).deliveries.map(({ status }) => status)).toEqual(['delivered', 'failed']);
    expect(server.of(path)).toHaveLength(2);
  });

  it('that a caller switches off fails what is owed to it', async () => {
    const { of } = await responding(500);
    await of.run();
    await of.newest(attempted(1));
    await of.ask('PATCH', '', { enabled: false });
    expect(await of.newest(({ status }) => status === 'failed')).toMatchObject({ nextAttemptAt: null });
    expect(await of.read()).toMatchObject({ enabled: false, disabledReason: null });
  });

  it('without a delivery for five days is switched off and says so; one that has delivered since is not', async () => {
    const [failing, recovered] = [await responding(500), await responding(500)];
    for (const { of } of [failing, recovered]) {
      await of.run();
      await of.newest(attempted(1));
    }
    recovered.endpoint.status = 200;
    clock.forward(6 * SECOND);
    await recovered.of.newest(({ status }) => status === 'delivered');
    const switchOff = service.app.get(SwitchOffFailing, { strict: false });
    clock.forward(5 * DAY - HOUR);
    await switchOff.process();
    expect(await failing.of.read()).toMatchObject({ enabled: true });
    clock.forward(2 * HOUR);
    await switchOff.process();
    expect(await failing.of.read()).toMatchObject({ enabled: false, disabledReason: 'failing' });
    expect(await recovered.of.read()).toMatchObject({ enabled: true, disabledReason: null });
    await failing.of.newest(({ status }) => status === 'failed');
  });
});

describe('the list of deliveries', () => {
  it('is newest first, in pages, by status', async () => {
    const { of, endpoint } = await responding(200);
    for (let run = 0; run < 3; run += 1) {
      await of.run();
      await of.newest(({ status }) => status === 'delivered');
    }
    endpoint.status = 500;
    await of.run();
    const last = await of.newest(attempted(1));
    const all = (await of.deliveries()).deliveries;
    expect(all.map(({ status }) => status)).toEqual(['pending', 'delivered', 'delivered', 'delivered']);
    expect(all.map(({ createdAt }) => createdAt)).toEqual(
      all
        .map(({ createdAt }) => createdAt)
        .sort()
        .reverse(),
    );
    expect((await of.deliveries('?status=pending')).deliveries).toEqual([last]);
    const first = await of.deliveries('?status=delivered&limit=2');
    const rest = await of.deliveries(`?status=delivered&limit=2&cursor=${String(first.nextCursor)}`);
    expect([...first.deliveries, ...rest.deliveries]).toEqual(all.slice(1));
    expect(rest.nextCursor).toBeNull();
    for (const query of [`?cursor=${String(first.nextCursor)}`, '?status=lost', '?limit=101', '?cursor=x'])
      expect((await of.ask('GET', `/deliveries${query}`)).status).toBe(400);
  });

  it('has deliveries for 30 days', async () => {
    const { of } = await responding(200);
    await of.run();
    await of.newest(({ status }) => status === 'delivered');
    const purge = service.app.get(PurgeDeliveries, { strict: false });
    const run = () => purge.process({ signal: new AbortController().signal } as Parameters<typeof purge.process>[0]);
    clock.forward(30 * DAY - HOUR);
    await run();
    expect((await of.deliveries()).deliveries).toHaveLength(1);
    clock.forward(2 * HOUR);
    await run();
    expect((await of.deliveries()).deliveries).toEqual([]);
  });

  it('ends with the webhook', async () => {
    const { of } = await responding(200);
    await of.run();
    await of.newest(({ status }) => status === 'delivered');
    await of.ask('DELETE');
    await until(async () => {
      const rows = await service.database.query('select 1 from webhook_deliveries where endpoint_id = $1::uuid', [
        of.webhook.id,
      ]);
      return rows.length === 0;
    }, 'its deliveries are removed');
  });
});

describe('a redelivery', () => {
  it('sends a delivery again under the same id, whatever became of it', async () => {
    const { of, path } = await responding(200);
    await of.run();
    const { id } = await of.newest(({ status }) => status === 'delivered');
    const answer = await of.ask('POST', `/deliveries/${id}/redeliver`);
    expect([answer.status, answer.body]).toEqual([202, { id, status: 'pending' }]);
    const again = await of.newest(attempted(2));
    expect(again).toMatchObject({ id, status: 'delivered' });
    expect(server.of(path).map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
  });

  it('has all attempts again', async () => {
    const { of } = await responding(500);
    await of.run();
    const { id } = await of.newest(attempted(1));
    clock.forward(6 * SECOND);
    await of.newest(attempted(2));
    await of.ask('POST', `/deliveries/${id}/redeliver`);
    const third = await of.newest(attempted(3));
    expect(Math.abs(pauseOf(third) - 5 * SECOND)).toBeLessThan(500);
  });

  it.each([
    ['last', 7],
    ['last but one', 6],
  ])('while the %s attempt is under way is not lost with its result', async (_which, tries) => {
    const path = `/under-way/${tries}`;
    const waiting: (() => void)[] = [];
    const url = server.url(path, (_call, response) => {
      waiting.push(() => response.writeHead(500).end());
      return LEFT_OPEN;
    });
    const of = await WebhookOf.start(service, url);
    await owe(service, of, 1);
    await service.database.query('update webhook_deliveries set tries = $1::int where endpoint_id = $2::uuid', [
      tries,
      of.webhook.id,
    ]);
    await until(() => waiting.length === 1, 'the attempt is under way');
    const { id } = await of.newest(() => true);
    expect((await of.ask('POST', `/deliveries/${id}/redeliver`)).status).toBe(202);
    waiting[0]?.();
    expect(await of.newest(attempted(1))).toMatchObject({ id, status: 'pending' });
    await until(() => waiting.length === 2, 'it is sent again at once');
    waiting[1]?.();
    const again = await of.newest(attempted(2));
    expect(again.status).toBe('pending');
    expect(Math.abs(pauseOf(again) - 5 * SECOND)).toBeLessThan(500);
  });

  it('is refused for a webhook that is switched off, and for an unknown delivery', async () => {
    const { of } = await responding(200);
    await of.run();
    const { id } = await of.newest(({ status }) => status === 'delivered');
    const other = await WebhookOf.start(service, server.url('/unused'));
    expect((await other.ask('POST', `/deliveries/${id}/redeliver`)).status).toBe(404);
    expect((await of.ask('POST', `/deliveries/${newId()}/redeliver`)).status).toBe(404);
    await of.ask('PATCH', '', { enabled: false });
    expect(await of.ask('POST', `/deliveries/${id}/redeliver`)).toMatchObject({
      status: 409,
      body: { code: 'webhook_disabled' },
    });
    expect(await of.newest(() => true)).toMatchObject({ status: 'delivered' });
  });
});
