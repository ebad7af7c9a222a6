import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { CuttableProxy } from '../support/cuttable-proxy.js';
import { modeEnvironment } from '../support/mode-environment.js';
import { clusterOnly } from '../support/modes.js';
import { HeldReply, says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { readEvents } from '../support/sse.js';
import { openRedis } from '../support/test-redis.js';
import { until } from '../support/until.js';
import { ServiceClient } from './service-client.js';

// Each test starts processes.
interface Numbered {
  readonly id: number;
  readonly event: {
    readonly type: string;
    readonly runId?: string;
    readonly code?: string;
    readonly delta?: string;
    readonly result?: object;
  };
}

const REPLY = 'The first half and the rest';
const FINISHED = { type: 'RUN_FINISHED', outcome: { type: 'success' }, result: { message: { content: REPLY } } };
const CANCELLED = { type: 'RUN_FINISHED', outcome: { type: 'cancelled' }, result: { run: { status: 'cancelled' } } };

/** Far less than the copy of a log outlives its process. */
const SOON_MS = 15_000;

async function within(ms: number, ended: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => reject(new Error(`The stream has not ended within ${ms} ms`)), ms);
  await Promise.race([ended, promise]).finally(() => clearTimeout(timer));
}

/** A stream that is being read, with its events so far. */
class Listener {
  readonly events: Numbered[] = [];
  readonly ended: Promise<void>;

  constructor(response: Promise<Response>) {
    this.ended = this.read(response);
    // Tests that need the end await it later, when a killed service may have broken the stream.
    this.ended.catch(() => undefined);
  }

  has(count: number): Promise<void> {
    return until(() => this.events.length >= count, `the stream has ${count} events`);
  }

  /** Its end. */
  async outcome(): Promise<string | undefined> {
    await this.ended;
    return this.last?.type;
  }

  get text(): string {
    return this.events.map(({ event }) => (event.type === 'TEXT_MESSAGE_CONTENT' ? event.delta : '')).join('');
  }

  get last(): Numbered['event'] | undefined {
    return this.events.at(-1)?.event;
  }

  private async read(response: Promise<Response>): Promise<void> {
    const { status, body } = await response;
    if (status !== 200 || !body) throw new Error(`The stream was answered with ${status}`);
    for await (const { id, data } of readEvents(body)) {
      this.events.push({ id: Number(id), event: JSON.parse(data) as Numbered['event'] });
    }
  }
}

interface Held {
  readonly held: HeldReply;
  readonly here: Listener;
  readonly agentId: string;
  readonly threadId: string;
  readonly path: string;
}

clusterOnly('two replicas of the service', () => {
  let models: ScriptedModels;
  let environment: Awaited<ReturnType<typeof modeEnvironment>>;
  let network: CuttableProxy;
  /** The part of `network` that only the first replica uses. */
  let ofFirst: CuttableProxy;
  /** Past `network`. */
  let server: Redis;
  let key: string;
  let variables: Record<string, string>;
  let first: ServiceProcess;
  let second: ServiceProcess;
  let owner: ServiceClient;
  let other: ServiceClient;

  beforeAll(async () => {
    models = await ScriptedModels.start();
    environment = await modeEnvironment();
    server = await openRedis();
    const redis = new URL(environment.variables['REDIS_URL'] ?? '');
    network = await CuttableProxy.start({ host: redis.hostname, port: Number(redis.port) });
    redis.hostname = '127.0.0.1';
    redis.port = String(network.port);
    variables = { ...models.environment, ...environment.variables, REDIS_URL: redis.href };
    ofFirst = await CuttableProxy.start({ host: '127.0.0.1', port: network.port });
    second = await ServiceProcess.start({ environment: variables });
    key = second.firstKey ?? '';
    other = new ServiceClient(second, key);
  });

  beforeEach(async () => {
    models.reset();
    const redis = new URL(variables['REDIS_URL'] ?? '');
    redis.port = String(ofFirst.port);
    first = await ServiceProcess.start({ environment: { ...variables, REDIS_URL: redis.href } });
    owner = new ServiceClient(first, key);
    await untilCarried();
  });

  afterEach(async () => {
    await first.kill();
  });

  afterAll(async () => {
    await second.kill();
    await ofFirst.close();
    await network.close();
    await server.quit();
    await models.close();
    await environment.close();
  });

  /** An earlier test may have cut the connections to Redis: waits until events of the first replica reach the other. */
  async function untilCarried(): Promise<void> {
    models.next(says('Hello'));
    const { threadId } = await owner.thread();
    const [{ runId = '' } = {}] = await owner.streamed(threadId, 'Hello');
    const path = `/v1/threads/${threadId}/runs/${runId}/stream`;
    const joined = (): Promise<string | undefined> =>
      join(path, 0)
        .outcome()
        .catch(() => 'refused');
    await until(async () => (await joined()) === 'RUN_FINISHED', 'Redis carries events', { everyMs: 50 });
    models.reset();
  }

  /** A run of the first replica that pauses in the middle of its reply, and a reader there. */
  async function heldRun(): Promise<Held> {
    const held = new HeldReply(['The', ' first', ' half'], [' and', ' the', ' rest']);
    models.next(held.script);
    const { agentId, threadId } = await owner.thread();
    const message = { message: { role: 'user', content: 'Hello' } };
    const here = new Listener(owner.fetch('POST', `/v1/threads/${threadId}/runs/stream`, message));
    await held.asked;
    await here.has(5);
    return {
      held,
      here,
      agentId,
      threadId,
      path: `/v1/threads/${threadId}/runs/${here.events[0]?.event.runId ?? ''}/stream`,
    };
  }

  it('a caller of one joins a run of the other midway, from every position, with no gap and no repeat', async () => {
    const { held, here, path } = await heldRun();
    const joined = here.events.map(({ id }) => ({ after: id, listener: join(path, id) }));
    const fromStart = join(path, 0);
    await fromStart.has(5);
    held.finish();

    await here.ended;
    expect(here.last?.type).toBe('RUN_FINISHED');
    await fromStart.ended;
    expect(fromStart.events).toEqual(here.events);
    for (const { after, listener } of joined) {
      await listener.ended;
      expect(listener.events).toEqual(here.events.filter(({ id }) => id > after));
    }
  });

  it('Redis is lost during a run: readers of the other replica get the whole reply from the database', async () => {
    const { held, here, path } = await heldRun();
    const elsewhere = join(path, 0);
    await elsewhere.has(5);
    network.cut();
    const late = join(path, 0);
    const behind = join(path, 3);
    held.finish();

    await here.ended;
    for (const listener of [elsewhere, late]) {
      await listener.ended;
      expect(listener.text).toBe(REPLY);
    }
    // Nothing in that process tells what the first three events were.
    await behind.ended;
    expect(behind.events).toHaveLength(1);
    for (const { last } of [here, elsewhere, late, behind]) expect(last).toMatchObject(FINISHED);
    network.restore();
    const again = join(path, elsewhere.events.at(-1)?.id ?? 0);
    await again.ended;
    expect(again.events.map(({ event }) => event)).toEqual([here.last]);
  });

  it('Redis is lost for a moment during a run: readers of the other replica go on in the log', async () => {
    const { held, here, path } = await heldRun();
    const elsewhere = join(path, 0);
    await elsewhere.has(5);
    network.cut();
    network.restore();
    await untilCarried();
    held.finish();

    await elsewhere.ended;
    await here.ended;
    expect(elsewhere.text).toBe(REPLY);
    expect(elsewhere.last).toMatchObject(FINISHED);
  });

  it('Redis stops answering during a run: readers of the other replica get the whole reply', async () => {
    const { held, here, path } = await heldRun();
    const elsewhere = join(path, 0);
    await elsewhere.has(5);
    network.stall('everything');
    held.finish();

    await here.ended;
    await elsewhere.ended;
    network.restore();
    expect(elsewhere.text).toBe(REPLY);
    expect(elsewhere.last).toMatchObject(FINISHED);
  });

  it.each([
    ['loses Redis', () => ofFirst.cut()],
    ['gets no answers from Redis', () => ofFirst.stall('answers')],
  ])('only the replica of a run %s: readers of the other one get the whole reply soon', async (_what, fault) => {
    const { held, here, path } = await heldRun();
    const elsewhere = join(path, 0);
    await elsewhere.has(5);
    fault();
    held.finish();

    await here.ended;
    const late = join(path, 0);
    for (const listener of [elsewhere, late]) {
      await within(SOON_MS, listener.ended);
      expect(listener.text).toBe(REPLY);
      expect(listener.last).toMatchObject(FINISHED);
    }
    ofFirst.restore();
  });

  it('Redis is emptied during a run: readers of the other replica get the whole reply, also when they join later', async () => {
    const { held, here, path } = await heldRun();
    const elsewhere = join(path, 0);
    await elsewhere.has(5);
    await server.del(await server.keys(`${variables['REDIS_PREFIX'] ?? ''}:run-log:*`));
    held.finish();

    await here.ended;
    await elsewhere.ended;
    const [whole, behind] = [join(path, 0), join(path, 3)];
    for (const listener of [elsewhere, whole]) {
      await listener.ended;
      expect(listener.text).toBe(REPLY);
      expect(listener.last).toMatchObject(FINISHED);
    }
    await behind.ended;
    expect(behind.events.map(({ event }) => event)).toEqual([here.last]);
  });

  it('a run is cancelled on the other replica: it ends for its readers on both and the caller', async () => {
    const { held, here, path } = await heldRun();
    const elsewhere = join(path, 0);
    const cancelled = await other.call('POST', path.replace(/stream$/, 'cancel'));

    expect(cancelled).toMatchObject({ run: { status: 'cancelled' }, message: { content: 'The first half' } });
    for (const listener of [here, elsewhere]) {
      await listener.ended;
      expect(listener.last).toMatchObject(CANCELLED);
    }
    held.finish();
  });

  it.each([
    ['thread', ({ threadId }: Held) => `/v1/threads/${threadId}`],
    ['agent', ({ agentId }: Held) => `/v1/agents/${agentId}`],
  ])('the %s of a run is deleted on the other replica: the run ends as cancelled on both', async (_what, pathOf) => {
    const run = await heldRun();
    const elsewhere = join(run.path, 0);
    await elsewhere.has(5);
    expect((await other.fetch('DELETE', pathOf(run))).status).toBeLessThan(300);
    for (const listener of [run.here, elsewhere]) {
      await listener.ended;
      expect(listener.last).toMatchObject(CANCELLED);
    }
    run.held.finish();
  });

  it('the thread of a run is deleted while Redis is away: readers of the other replica get a cancelled run', async () => {
    const { held, here, path, threadId } = await heldRun();
    const elsewhere = join(path, 0);
    await elsewhere.has(5);
    network.cut();
    await owner.fetch('DELETE', `/v1/threads/${threadId}`);
    for (const listener of [here, elsewhere]) {
      await listener.ended;
      expect(listener.last).toMatchObject(CANCELLED);
    }
    network.restore();
    held.finish();
  });

  it('both lose Redis: a repeat with the same Idempotency-Key on the other one gets the same reply', async () => {
    const held = new HeldReply(['The', ' first', ' half'], [' and', ' the', ' rest']);
    models.next(held.script);
    const { threadId } = await owner.thread();
    const headers = { 'idempotency-key': `lost-${threadId}` };
    const send = (client: ServiceClient): Promise<Response> =>
      client.fetch(
        'POST',
        `/v1/threads/${threadId}/runs/stream`,
        { message: { role: 'user', content: 'Hello' } },
        headers,
      );
    const here = new Listener(send(owner));
    await held.asked;
    await here.has(5);
    network.cut();
    const there = new Listener(send(other));
    held.finish();

    await here.ended;
    await there.ended;
    network.restore();
    expect(there.last).toMatchObject({ type: 'RUN_FINISHED', result: here.last?.result });
    expect(models.requests).toHaveLength(1);
  });

  it('one is killed during a run: callers of the other get a terminal event after the run was ended', async () => {
    const { held, here, path } = await heldRun();
    const elsewhere = join(path, 0);
    await elsewhere.has(5);
    await first.kill();
    await here.ended.catch(() => undefined);
    held.finish();

    await elsewhere.ended;
    expect(elsewhere.events.map(({ id }) => id)).toEqual(elsewhere.events.map((_, index) => index + 1));
    expect(elsewhere.last).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    expect(await other.call('GET', path.replace(/\/stream$/, ''))).toMatchObject({ run: { status: 'failed' } });
  });

  it('one is killed during a run, and its thread deleted: readers of the other get a cancelled run soon', async () => {
    const { held, path, threadId } = await heldRun();
    const elsewhere = join(path, 0);
    await elsewhere.has(5);
    await first.kill();
    await other.fetch('DELETE', `/v1/threads/${threadId}`);
    await within(SOON_MS, elsewhere.ended);
    expect(elsewhere.last).toMatchObject(CANCELLED);
    held.finish();
  });

  function join(path: string, after: number): Listener {
    return new Listener(other.fetch('GET', `${path}?starting_after=${after}`));
  }
});
