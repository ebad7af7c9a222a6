import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { CuttableProxy } from '../support/cuttable-proxy.js';
import { modeEnvironment } from '../support/mode-environment.js';
import { clusterOnly } from '../support/modes.js';
import { HeldReply, says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { readEvents } from '../support/sse.js';
import { until } from '../support/until.js';
import { ServiceClient } from './service-client.js';

// Each test starts processes.
jest.setTimeout(120_000);

interface Numbered {
  readonly id: number;
  readonly event: { readonly type: string; readonly runId?: string; readonly code?: string; readonly result?: object };
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

clusterOnly('two replicas of the service', () => {
  let models: ScriptedModels;
  let environment: Awaited<ReturnType<typeof modeEnvironment>>;
  let network: CuttableProxy;
  let key: string;
  let variables: Record<string, string>;
  let first: ServiceProcess;
  let second: ServiceProcess;
  let owner: ServiceClient;
  let other: ServiceClient;

  beforeAll(async () => {
    models = await ScriptedModels.start();
    environment = await modeEnvironment();
    const redis = new URL(environment.variables['REDIS_URL'] ?? '');
    network = await CuttableProxy.start({ host: redis.hostname, port: Number(redis.port) });
    redis.hostname = '127.0.0.1';
    redis.port = String(network.port);
    variables = { ...models.environment, ...environment.variables, REDIS_URL: redis.href };
    second = await ServiceProcess.start({ environment: variables });
    key = second.firstKey ?? '';
    other = new ServiceClient(second, key);
  });

  beforeEach(async () => {
    models.reset();
    first = await ServiceProcess.start({ environment: variables });
    owner = new ServiceClient(first, key);
    await untilCarried();
  });

  afterEach(async () => {
    await first.kill();
  });

  afterAll(async () => {
    await second.kill();
    await network.close();
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
  async function heldRun(): Promise<{ held: HeldReply; here: Listener; path: string }> {
    const held = new HeldReply(['The', ' first', ' half'], [' and', ' the', ' rest']);
    models.next(held.script);
    const { threadId } = await owner.thread();
    const message = { message: { role: 'user', content: 'Hello' } };
    const here = new Listener(owner.fetch('POST', `/v1/threads/${threadId}/runs/stream`, message));
    await held.asked;
    await here.has(5);
    return { held, here, path: `/v1/threads/${threadId}/runs/${here.events[0]?.event.runId ?? ''}/stream` };
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

  it('one loses Redis during a run: its caller gets the whole reply, callers of the other get an error', async () => {
    const { held, here, path } = await heldRun();
    const elsewhere = join(path, 0);
    await elsewhere.has(5);
    network.cut();
    expect(await elsewhere.outcome()).toBe('RUN_ERROR');
    held.finish();

    await here.ended;
    network.restore();
    const rejoined = (): Promise<string | undefined> =>
      join(path, 0)
        .outcome()
        .catch(() => 'refused');
    await until(async () => (await rejoined()) === 'RUN_FINISHED', 'Redis carries the events again', { everyMs: 50 });
    expect(here.last?.type).toBe('RUN_FINISHED');
    expect(here.events.map(({ id }) => id)).toEqual(here.events.map((_, index) => index + 1));
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

  function join(path: string, after: number): Listener {
    return new Listener(other.fetch('GET', `${path}?starting_after=${after}`));
  }
});
