import { setImmediate as nextTask } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { openTestDatabase, type TestDatabase } from '../../../../test/support/test-database.js';
import { until } from '../../../../test/support/until.js';
import { newId } from '../../../platform/ids/index.js';
import { HostSlotRepository } from '../persistence/host-slot.repository.js';
import { crawlSchema } from '../persistence/crawl.schema.js';
import { LeasedHostSlots } from './leased-host-slots.js';

const never = new AbortController().signal;
let open: TestDatabase;
/** Another one for each test: what a test leaves to its leases must not hold up the next. */
let host: string;

beforeAll(async () => {
  open = await openTestDatabase([crawlSchema]);
});
afterAll(() => open.close());
beforeEach(() => {
  host = `${newId()}.example:443`;
  workers.length = 0;
});

/** A process with a clock that the test moves. */
class Worker {
  readonly clock = new ManualClock();
  readonly slots = new LeasedHostSlots(new HostSlotRepository(open.database), this.clock);

  request(work: () => Promise<unknown>, { asked = host, delayMs = 0, signal = never } = {}): Promise<unknown> {
    return this.slots.within(asked, { delayMs }, work, signal);
  }
}

const workers: Worker[] = [];
function worker(): Worker {
  const made = new Worker();
  workers.push(made);
  return made;
}

/** Requests that are under way, of all workers. */
class Requests {
  running = 0;
  most = 0;
  done = 0;
  private readonly held: (() => void)[] = [];

  /** Takes as long as the test wants. */
  readonly work = async (): Promise<void> => {
    this.enter();
    await new Promise<void>((resolve) => this.held.push(resolve));
    this.leave();
  };

  /** Takes a moment. */
  readonly brief = async (): Promise<void> => {
    this.enter();
    await nextTask();
    this.leave();
  };

  end(count = Infinity): void {
    for (const resolve of this.held.splice(0, count)) resolve();
  }

  private enter(): void {
    this.running += 1;
    this.most = Math.max(this.most, this.running);
  }

  private leave(): void {
    this.running -= 1;
    this.done += 1;
  }
}

/** Lets time pass for everybody until something is so. */
async function passTime(condition: () => boolean | Promise<boolean>, what: string, ms = 100): Promise<void> {
  await until(async () => {
    if (await condition()) return true;
    await Promise.all(workers.map(({ clock }) => clock.advance(ms)));
    return condition();
  }, what, { everyMs: 0 });
}

/** Of this test's host. */
const rows = (): Promise<Record<string, unknown>[]> => open.database.query('select * from crawl_host_slots where host = $1', [host]);

describe('requests to one host', () => {
  it('are four at a time, over two processes, and each of these has its turn', async () => {
    const [first, second] = [worker(), worker()];
    const [a, b] = [new Requests(), new Requests()];
    let most = 0;
    const counted = (requests: Requests) => async (): Promise<void> => {
      most = Math.max(most, a.running + b.running + 1);
      await requests.brief();
    };
    const all = [first, second].flatMap((process, index) =>
      Array.from({ length: 60 }, () => process.request(counted(index === 0 ? a : b))));
    await passTime(() => a.done === 60 && b.done === 60, 'all requests', 50);
    await Promise.all(all);
    expect(most).toBeLessThanOrEqual(4);
  });

  it('begin as soon as one ends, in the order in which they were asked for', async () => {
    const requests = new Requests();
    const process = worker();
    const begun: number[] = [];
    const all = Array.from({ length: 8 }, (_, index) => process.request(() => (begun.push(index), requests.work())));
    await until(() => requests.running === 4, 'the first four');
    expect(process.clock.pending()).toBeLessThanOrEqual(1);
    requests.end(1);
    await until(() => begun.length === 5, 'the fifth');
    requests.end();
    await until(() => begun.length === 8, 'the others');
    requests.end();
    await Promise.all(all);
    expect([begun, requests.most]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7], 4]);
  });

  it('leave other hosts alone', async () => {
    const requests = new Requests();
    const process = worker();
    const all = ['a', 'b', 'c'].flatMap((other) => Array.from({ length: 4 }, () => process.request(requests.work, { asked: other + host })));
    await until(() => requests.running === 12, 'all of them');
    requests.end();
    await Promise.all(all);
  });

  it('of which 200 wait cost a few statements', async () => {
    const requests = new Requests();
    const process = worker();
    const before = open.database.statementCount;
    await Promise.all(Array.from({ length: 200 }, () => process.request(requests.brief)));
    expect(open.database.statementCount - before).toBeLessThanOrEqual(2);
    const waiting = Array.from({ length: 204 }, () => process.request(requests.work));
    await until(() => requests.running === 4, 'four of them');
    const held = open.database.statementCount;
    for (let second = 0; second < 10; second += 1) await process.clock.advance(1_000);
    expect(open.database.statementCount - held).toBeLessThanOrEqual(12);
    await until(() => (requests.end(), requests.done === 404), 'all of them', { everyMs: 0 });
    await Promise.all(waiting);
  });

  it('that fail leave their slot to others, with what they failed with', async () => {
    const process = worker();
    const broken = new Error('broken');
    const failed = await Promise.all(Array.from({ length: 8 }, () => process.request(() => Promise.reject(broken)).catch((error: unknown) => error)));
    expect(new Set(failed)).toEqual(new Set([broken]));
  });

  it('within others need no slot of their own', async () => {
    const process = worker();
    const nested = Array.from({ length: 4 }, () => process.request(() => process.request(() => process.request(() => Promise.resolve(1)), { delayMs: 5_000 })));
    expect(await Promise.all(nested)).toEqual([1, 1, 1, 1]);
  });

  it('may be given up while they wait, and before', async () => {
    const requests = new Requests();
    const process = worker();
    const held = Array.from({ length: 4 }, () => process.request(requests.work));
    await until(() => requests.running === 4, 'the slots to be used');
    const giveUp = new AbortController();
    const waiting = process.request(requests.work, { signal: giveUp.signal }).catch((error: unknown) => error);
    const reason = new Error('superseded');
    giveUp.abort(reason);
    expect(await waiting).toBe(reason);
    expect(await process.request(requests.work, { signal: giveUp.signal }).catch((error: unknown) => error)).toBe(reason);
    expect(await process.request(requests.work, { signal: giveUp.signal, delayMs: 1_000 }).catch((error: unknown) => error)).toBe(reason);
    requests.end();
    await Promise.all(held);
    expect(requests.done).toBe(4);
  });

  it('have names as long as they like', async () => {
    expect(await worker().request(() => Promise.resolve('done'), { asked: host + 'a'.repeat(100_000) })).toBe('done');
  });
});

describe('a slot', () => {
  it('of a process that died is free when its lease is over', async () => {
    const [dead, other] = [worker(), worker()];
    const lost = new Requests();
    void Promise.all(Array.from({ length: 4 }, () => dead.request(lost.work)));
    await until(() => lost.running === 4, 'the slots to be used');
    const [leased] = await open.database.query<{ seconds: number }>(
      `select extract(epoch from min(leased_until) - now())::double precision as seconds from crawl_host_slots where host = $1`, [host]);
    expect(leased?.seconds).toBeGreaterThan(30);
    expect(leased?.seconds).toBeLessThanOrEqual(60);
    const requests = new Requests();
    const waiting = other.request(requests.brief);
    // As time goes for the living only.
    workers.splice(workers.indexOf(dead), 1);
    for (let poll = 0; poll < 5; poll += 1) {
      await until(() => other.clock.pending() > 0, 'the next look');
      await other.clock.advance(1_000);
    }
    expect(requests.done).toBe(0);
    await open.database.query(`update crawl_host_slots set leased_until = now() where host = $1`, [host]);
    await passTime(() => requests.done === 1, 'the slot to be taken over');
    await waiting;
  });

  it('of a long request is renewed', async () => {
    const process = worker();
    const requests = new Requests();
    const long = process.request(requests.work);
    const paced = process.request(requests.work, { delayMs: 1_000 });
    await until(() => requests.running === 2, 'the requests');
    await open.database.query(`update crawl_host_slots set leased_until = now() + interval '1 second' where host = $1`, [host]);
    const renewed = async (): Promise<boolean> =>
      (await open.database.query(`select 1 from crawl_host_slots where host = $1 and leased_until > now() + interval '50 seconds'`, [host])).length === 2;
    await passTime(renewed, 'the leases to be renewed', 1_000);
    requests.end();
    await Promise.all([long, paced]);
  });

  it('that a process does not use is released within a second or two', async () => {
    const process = worker();
    await process.request(() => Promise.resolve());
    expect(await rows()).toHaveLength(1);
    await passTime(async () => (await rows()).length === 0, 'the slot to be released', 1_000);
    await until(() => process.clock.pending() === 0, 'nothing to be looked after');
    expect(process.clock.monotonic()).toBeLessThan(60_000);
  });

  it('whose release the database did not hear of is released once it does', async () => {
    const process = worker();
    await process.request(() => Promise.resolve());
    const refused = open.database.statementCount;
    await open.database.query('alter table crawl_host_slots rename to elsewhere');
    try {
      await process.clock.advance(1_000);
      await until(() => open.database.statementCount >= refused + 2 && process.clock.pending() === 1, 'the release to fail');
    } finally {
      await open.database.query('alter table elsewhere rename to crawl_host_slots');
    }
    expect(await rows()).toHaveLength(1);
    await passTime(async () => (await rows()).length === 0, 'the slot to be released', 1_000);
    await until(() => process.clock.pending() === 0, 'nothing to be looked after');
    expect(process.clock.monotonic()).toBeLessThan(60_000);
  });

  it('goes to a process that has none, however many wait where it is', async () => {
    const [greedy, other] = [worker(), worker()];
    const [many, one] = [new Requests(), new Requests()];
    let more = true;
    const again = async (): Promise<void> => {
      while (more) await greedy.request(many.work);
    };
    const busy = Array.from({ length: 20 }, () => again());
    await until(() => many.running === 4, 'the first process to be busy');
    const asked = other.request(one.brief);
    // By a few at a time: requests that end by themselves would leave this process no time for anything else.
    const endSome = (): void => many.end(4);
    try {
      await passTime(() => (endSome(), one.done === 1), 'the other process\'s turn');
    } finally {
      more = false;
    }
    let ended = false;
    void Promise.all([...busy, asked]).then(() => (ended = true));
    await passTime(() => (endSome(), ended), 'the last ones');
  });

  it('is free at once when its process stops', async () => {
    const process = worker();
    await process.request(() => Promise.resolve());
    expect(await rows()).toHaveLength(1);
    await process.slots.onApplicationShutdown();
    expect(await rows()).toHaveLength(0);
  });

  it('that cannot be asked for fails those who wait, and nobody later', async () => {
    const process = worker();
    await open.database.query('alter table crawl_host_slots rename to elsewhere');
    try {
      const failed = await Promise.allSettled([0, 1, 2, 3, 4, 5].map((index) => process.request(() => Promise.resolve(), { delayMs: index > 3 ? 1_000 : 0 })));
      expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(['rejected']));
    } finally {
      await open.database.query('alter table elsewhere rename to crawl_host_slots');
    }
    expect(await process.request(() => Promise.resolve('done'))).toBe('done');
    expect(await process.request(() => Promise.resolve('done'), { delayMs: 1_000 })).toBe('done');
  });
});

describe('a host with a pace', () => {
  const DELAY = { delayMs: 30_000 };
  /** As if the pause were over. */
  const passPause = (): Promise<unknown> => open.database.query(`update crawl_hosts set next_at = now() where host = $1`, [host]);

  it('is asked for one thing at a time, over two processes', async () => {
    const [first, second] = [worker(), worker()];
    const requests = new Requests();
    const all = [first, second, first, second].map((process) => process.request(requests.work, DELAY));
    for (let turn = 1; turn <= 4; turn += 1) {
      await passTime(() => requests.running === 1, `request ${turn}`, 1_000);
      await passPause();
      for (let look = 0; look < 3; look += 1) await Promise.all(workers.map(({ clock }) => clock.advance(1_000)));
      expect(requests.running).toBe(1);
      requests.end();
      await until(() => requests.done === turn, 'its end');
      // The pause that counts from the request's end on is over as well.
      await until(async () => (await rows()).length === 0 || requests.running === 1, 'its slot to be released');
      await passPause();
    }
    await Promise.all(all);
    expect(requests.most).toBe(1);
  });

  it('is left alone for that long, over two processes', async () => {
    const [first, second] = [worker(), worker()];
    const requests = new Requests();
    await first.request(requests.brief, DELAY);
    const next = second.request(requests.brief, DELAY);
    await until(() => second.clock.sleeping() === 1, 'the second to wait');
    expect(second.clock.nextIn()).toBeGreaterThan(10_000);
    expect(second.clock.nextIn()).toBeLessThanOrEqual(30_000);
    await second.clock.advance(5_000);
    expect(requests.done).toBe(1);
    await passPause();
    await passTime(() => requests.done === 2, 'the second request', 1_000);
    await next;
  });

  it('has its pause counted from the request itself, however late that began', async () => {
    const process = worker();
    const requests = new Requests();
    const long = process.request(requests.work, DELAY);
    await until(() => requests.running === 1, 'the request');
    await open.database.query(`update crawl_hosts set next_at = now() where host = $1`, [host]);
    await process.clock.advance(10_000);
    requests.end();
    await long;
    const [pause] = await open.database.query<{ seconds: number }>(
      `select extract(epoch from next_at - now())::double precision as seconds from crawl_hosts where host = $1`, [host]);
    expect(pause?.seconds).toBeGreaterThan(5);
    expect(pause?.seconds).toBeLessThanOrEqual(20);
  });

  it('costs two statements a request', async () => {
    const before = open.database.statementCount;
    await worker().request(() => Promise.resolve(), DELAY);
    expect(open.database.statementCount - before).toBe(2);
  });
});

it('hosts that nobody asks for any more are forgotten', async () => {
  const process = worker();
  const kept = async (table: string): Promise<unknown[]> => (await open.database.query<{ host: string }>(
    `select host from ${table} where host like '%' || $1 order by host`, [host])).map((row) => row.host.replace(host, ''));
  await open.database.query(`insert into crawl_hosts (host, next_at, wanted_at) values ('old' || $1, now() - interval '2 hours', now() - interval '2 hours'),
    ('waited' || $1, 'epoch', now()), ('paced' || $1, now(), 'epoch')`, [host]);
  await open.database.query(`insert into crawl_host_slots values ('old' || $1, 1, gen_random_uuid(), now() - interval '2 hours')`, [host]);
  await process.clock.advance(600_000);
  await process.request(() => Promise.resolve(), { delayMs: 1 });
  await until(async () => (await kept('crawl_hosts')).length === 3, 'the old host to be forgotten');
  expect(await kept('crawl_hosts')).toEqual(['', 'paced', 'waited']);
  await until(async () => (await kept('crawl_host_slots')).length === 0, 'its slot to be forgotten');
});
