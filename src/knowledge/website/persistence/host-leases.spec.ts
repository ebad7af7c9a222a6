import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { openTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { until } from '../../../../test/support/until.js';
import { newId } from '../../../platform/ids/index.js';
import type { HostLease } from '../domain/host-lease.js';
import { HostLeases } from './host-leases.repository.js';
import { crawlHostsSchema } from './website.schema.js';

let open: TestDatabase;
/** A new one for each test. */
let origin: string;
let host: string;

beforeAll(async () => {
  open = await openTestDatabase([crawlHostsSchema]);
});
afterAll(() => open.close());
beforeEach(() => {
  const name = `${newId()}.example`;
  [origin, host] = [`https://${name}`, `${name}:443`];
});

/** A process with a clock that the test moves. */
class Worker {
  readonly clock = new ManualClock();
  readonly leases = new HostLeases(open.database, this.clock);

  async take(): Promise<HostLease> {
    const lease = await this.leases.take(origin);
    if (!lease) throw new Error('The host is busy');
    return lease;
  }
}

/** Lets time pass for the host, by the database's clock. */
const pass = (seconds: number): Promise<unknown> =>
  open.database.query(
    `update crawl_hosts set leased_until = leased_until - make_interval(secs => $2::double precision), next_at = next_at - make_interval(secs => $2::double precision) where host = $1`,
    [host, seconds],
  );

describe('the lease of a host', () => {
  it('is held by one process, and can be taken by another once it is released', async () => {
    const [first, second] = [new Worker(), new Worker()];
    const lease = await first.take();
    expect(await second.leases.take(origin)).toBeNull();
    await first.leases.release(lease);
    expect((await second.take()).host).toBe(host);
  });

  it('of a process that died can be taken within a minute', async () => {
    await new Worker().take();
    const other = new Worker();
    expect(await other.leases.busyMs(origin)).toBeLessThanOrEqual(60_000);
    await pass(58);
    expect(await other.leases.take(origin)).toBeNull();
    await pass(2);
    expect(await other.take()).toBeDefined();
  });

  it('is renewed while its process works, so no other process can take it', async () => {
    const [first, second] = [new Worker(), new Worker()];
    const lease = await first.take();
    const lost: Error[] = [];
    const stop = first.leases.startRenewing(lease, (reason) => lost.push(reason));
    for (let turn = 0; turn < 4; turn += 1) {
      await pass(15);
      const before = open.database.statementCount;
      await first.clock.advance(15_000);
      await until(() => open.database.statementCount > before, 'the renewal');
      await until(async () => (await second.leases.busyMs(origin)) > 55_000, 'the lease to be renewed');
    }
    stop();
    expect([await second.leases.take(origin), lost]).toEqual([null, []]);
  });

  it('that another process has taken ends the work, and releasing it changes nothing', async () => {
    const [first, second] = [new Worker(), new Worker()];
    const lease = await first.take();
    await pass(60);
    await second.take();
    const lost: Error[] = [];
    first.leases.startRenewing(lease, (reason) => lost.push(reason));
    await first.clock.advance(15_000);
    await until(() => lost.length === 1, 'the loss to be noticed');
    await first.leases.release(lease);
    expect(await first.leases.take(origin)).toBeNull();
  });

  it('that cannot be renewed ends the work before another process can take it', async () => {
    const worker = new Worker();
    const lease = await worker.take();
    const lost: Error[] = [];
    worker.leases.startRenewing(lease, (reason) => lost.push(reason));
    await open.database.query('alter table crawl_hosts rename to elsewhere');
    try {
      for (let turn = 0; turn < 3 && lost.length === 0; turn += 1) {
        const before = open.database.statementCount;
        await worker.clock.advance(15_000);
        await until(() => open.database.statementCount > before || lost.length > 0, 'the attempt');
      }
      await until(() => lost.length > 0, 'the loss to be noticed');
    } finally {
      await open.database.query('alter table elsewhere rename to crawl_hosts');
    }
    expect(worker.clock.monotonic()).toBeLessThanOrEqual(45_000);
  });

  it('can be taken for host names of any length', async () => {
    origin = `https://${'a'.repeat(2_000)}.example`;
    expect(await new Worker().take()).toBeDefined();
  });

  it('costs two statements', async () => {
    const worker = new Worker();
    const before = open.database.statementCount;
    await worker.leases.release(await worker.take());
    expect(open.database.statementCount - before).toBe(2);
  });
});

describe('a pause that a host asks for', () => {
  it('applies to the next process', async () => {
    const [first, second] = [new Worker(), new Worker()];
    const lease = await first.take();
    lease.pauseFor(30_000);
    await first.clock.advance(10_000);
    await first.leases.release(lease);
    const next = await second.take();
    expect(next.pauseMs).toBeGreaterThan(15_000);
    expect(next.pauseMs).toBeLessThanOrEqual(20_000);
    await second.leases.release(next);
    await pass(20);
    expect((await second.take()).pauseMs).toBe(0);
  });

  it('is the longest of those asked for', async () => {
    const worker = new Worker();
    const lease = await worker.take();
    lease.pauseFor(5_000);
    lease.pauseFor(1_000);
    await worker.clock.advance(2_000);
    expect(lease.pauseMs).toBe(3_000);
  });
});

describe('connections', () => {
  it('are four at a time, in the order of the requests, even when some fail', async () => {
    const lease = await new Worker().take();
    const ends: (() => void)[] = [];
    const begun: number[] = [];
    const all = Array.from({ length: 9 }, (_none, number) =>
      lease
        .withConnection(async () => {
          begun.push(number);
          await new Promise<void>((resolve) => ends.push(resolve));
          if (number % 2 === 0) throw new Error('broken');
        })
        .catch(() => undefined),
    );
    await until(() => begun.length === 4, 'the first four');
    for (let ended = 0; ended < 9; ended += 1) {
      ends.shift()?.();
      await until(() => begun.length === Math.min(5 + ended, 9), 'the next one');
    }
    await Promise.all(all);
    expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

it('rows of idle hosts are deleted', async () => {
  const lease = await new Worker().take();
  await open.database.query(
    `insert into crawl_hosts (host, next_at) values ('old' || $1, now() - interval '2 hours'), ('paced' || $1, now())`,
    [host],
  );
  await new Worker().leases.deleteIdle();
  const rows = await open.database.query<{ host: string }>(
    `select host from crawl_hosts where host like '%' || $1 order by host`,
    [host],
  );
  expect(rows.map((row) => row.host)).toEqual([lease.host, `paced${host}`].sort());
});
