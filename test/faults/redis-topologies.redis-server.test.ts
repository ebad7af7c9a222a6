import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { Pool } from 'pg';
import { CuttableProxy } from '../support/cuttable-proxy.js';
import { modeEnvironment } from '../support/mode-environment.js';
import { clusterOnly } from '../support/modes.js';
import { readPrometheusText, sampleOf } from '../support/prometheus-text.js';
import { RedisServers } from '../support/redis-servers.js';
import { HeldReply, says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { readEvents } from '../support/sse.js';
import { until } from '../support/until.js';
import { ServiceClient } from './service-client.js';

jest.setTimeout(180_000);

/** A worker waits for each on a connection of its own; `docs/guide/settings.md` says how many that makes. */
const MOST_KINDS_OF_JOBS = 40;

clusterOnly('services on a Redis', () => {
  let models: ScriptedModels;
  let environment: Awaited<ReturnType<typeof modeEnvironment>>;
  let database: Pool;
  let key: string;
  const services: ServiceProcess[] = [];
  const servers: RedisServers[] = [];

  beforeAll(async () => {
    models = await ScriptedModels.start();
    environment = await modeEnvironment();
    database = new Pool({ connectionString: environment.variables['DATABASE_URL'] });
    // The first start makes the tables and the key.
    const first = await start('', 'all');
    key = first.firstKey ?? '';
    await first.kill();
  });

  afterEach(async () => {
    await Promise.all(services.map((service) => service.kill()));
    services.length = 0;
    await Promise.all(servers.splice(0).map((redis) => redis.close()));
    models.reset();
  });

  afterAll(async () => {
    await database.end();
    await models.close();
    await environment.close();
  });

  /** Closed after the test, also if it fails. */
  async function kept(starting: Promise<RedisServers>): Promise<RedisServers> {
    const redis = await starting;
    servers.push(redis);
    return redis;
  }

  async function start(redisUrl: string, role: 'all' | 'api' | 'worker'): Promise<ServiceProcess> {
    const service = await ServiceProcess.start({
      role,
      environment: { ...models.environment, ...environment.variables, REDIS_URL: redisUrl },
    });
    services.push(service);
    return service;
  }

  async function startTwo(redisUrl: string): Promise<[ServiceClient, ServiceClient]> {
    const [one, two] = [await start(redisUrl, 'all'), await start(redisUrl, 'all')];
    return [new ServiceClient(one, key), new ServiceClient(two, key)];
  }

  const redisOf = async (client: ServiceClient): Promise<unknown> =>
    (await client.call<Record<string, unknown>>('GET', '/health/ready'))['redis'];

  /** The value of the series that alerts use. */
  async function redisState(client: ServiceClient): Promise<string | undefined> {
    const samples = readPrometheusText(await (await client.fetch('GET', '/metrics')).text());
    const has = (value: string): boolean => sampleOf(samples, 'agent_service_state', { fact: 'redis', value }) === 1;
    return ['ok', 'away'].find(has);
  }

  /** A run of one is followed on the other while it goes on, both count in the same windows, and a job is done. */
  async function expectShared(here: ServiceClient, there: ServiceClient): Promise<void> {
    const { agentId, threadId } = await here.thread();
    const held = new HeldReply(['The', ' first'], [' and', ' the', ' rest']);
    models.next(held.script);
    const stream = here.stream(threadId, 'Hello');
    const { value: started } = await stream.next();
    const path = `/v1/threads/${threadId}/runs/${(started as { runId?: string }).runId ?? ''}/stream`;
    // Where the log could not be read the follower would have no text before the end of the run.
    const followed = typesIn(there.fetch('GET', path), (type) => {
      if (type === 'TEXT_MESSAGE_CONTENT') held.finish();
    });
    const types: string[] = ['RUN_STARTED'];
    for await (const { type } of stream) types.push(type);
    expect(types.at(-1)).toBe('RUN_FINISHED');
    expect(await followed).toEqual(types);

    const isShared = async (): Promise<boolean> => {
      const remaining: number[] = [];
      for (const client of [here, there, here, there]) {
        const { headers } = await client.fetch('POST', '/v1/threads', { assistant_id: agentId });
        remaining.push(Number(headers.get('ratelimit-remaining')));
      }
      return remaining.every((left, index) => left === Number(remaining[0]) - index);
    };
    // The window of a minute may end in between.
    await until(isShared, 'both count in one window');

    await here.fetch('DELETE', `/v1/agents/${agentId}`);
    const left = async (): Promise<number> =>
      (await database.query('select from messages where thread_id = $1', [threadId])).rows.length;
    await until(async () => (await left()) === 0, 'a job has removed the messages', { everyMs: 50 });
  }

  async function typesIn(response: Promise<Response>, onType: (type: string) => void): Promise<string[]> {
    const { status, body } = await response;
    if (status !== 200 || !body) throw new Error(`The stream was answered with ${status}`);
    const types: string[] = [];
    for await (const { data } of readEvents(body)) {
      const { type } = JSON.parse(data) as { type: string };
      types.push(type);
      onType(type);
    }
    return types;
  }

  it('behind sentinels share runs, windows and jobs, and do so again after the master was lost', async () => {
    const redis = await kept(RedisServers.sentinel());
    const [here, there] = await startTwo(redis.url);
    await expectShared(here, there);
    await redis.killFirst();
    const isBack = async (): Promise<boolean> => (await redisOf(here)) === 'ok' && (await redisOf(there)) === 'ok';
    await until(async () => !(await isBack()), 'the master is lost', { everyMs: 20 });
    await until(isBack, 'a sentinel has made the replica the master', { everyMs: 50 });
    await expectShared(here, there);
  });

  it('that is a cluster share runs, windows and jobs', async () => {
    const redis = await kept(RedisServers.cluster());
    const [here, there] = await startTwo(redis.url);
    await expectShared(here, there);
    await expectShared(there, here);
  });

  it('that is a cluster which serves no keys start, serve, and use it once it works', async () => {
    const redis = await kept(RedisServers.cluster());
    await redis.coverSlots(false);
    const worker = ServiceProcess.spawn({
      role: 'worker',
      environment: { ...environment.variables, REDIS_URL: redis.url, LOG_LEVEL: 'info', METRICS_PORT: '0' },
    });
    services.push(worker);
    const [here, there] = await startTwo(redis.url);
    await until(() => worker.written.includes('"monitoring"'), 'the worker has started', { everyMs: 50 });
    expect([await redisOf(here), await redisState(here)]).toEqual(['away', 'away']);
    worker.signal('SIGTERM');
    expect(await worker.ended()).toBe(0);
    await redis.coverSlots(true);
    const works = async (): Promise<boolean> => (await redisOf(here)) === 'ok' && (await redisOf(there)) === 'ok';
    await until(works, 'the cluster is used', { everyMs: 50 });
    await expectShared(here, there);

    await redis.coverSlots(false);
    expect(await redisOf(here)).toBe('away');
    const { agentId } = await here.thread();
    const times: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      const askedAt = performance.now();
      expect((await here.fetch('POST', '/v1/threads', { assistant_id: agentId })).ok).toBe(true);
      times.push(performance.now() - askedAt);
    }
    // Each of them would have tried for 200 ms. A machine may be slow by itself.
    expect(times.filter((ms) => ms < 190).length).toBeGreaterThan(2);
  });

  it('that is full say so, in readiness and in the metrics', async () => {
    const redis = await kept(RedisServers.single());
    const client = new ServiceClient(await start(redis.url, 'all'), key);
    const isUsed = async (): Promise<boolean> =>
      (await redisOf(client)) === 'ok' && (await redisState(client)) === 'ok';
    await until(isUsed, 'Redis is used', { everyMs: 50 });
    await redis.fill(true);
    expect(await redisOf(client)).toBe('away');
    expect((await client.thread()).threadId).toBeTruthy();
    await redis.fill(false);
    expect(await redisOf(client)).toBe('ok');
  });

  it('open a known number of connections, each with a name', async () => {
    const redis = await kept(RedisServers.single());
    const api = await start(redis.url, 'api');
    const namesOf = (role: string) => async (): Promise<string[]> =>
      (await redis.clientNames()).filter((name) => name.startsWith(`agent-service-${role}:`));
    await until(async () => (await namesOf('api')()).length === 4, 'all are open', { everyMs: 50 });
    expect(await namesOf('api')()).toEqual([
      'agent-service-api:jobs',
      'agent-service-api:limits',
      'agent-service-api:news',
      'agent-service-api:run-log',
    ]);
    await api.kill();
    const worker = ServiceProcess.spawn({
      role: 'worker',
      environment: { ...environment.variables, REDIS_URL: redis.url, LOG_LEVEL: 'info' },
    });
    services.push(worker);
    // The library names those with which workers wait.
    const blocking = async (): Promise<string[]> =>
      (await redis.clientNames()).filter((name) => !name.startsWith('agent-service'));
    let kinds = 0;
    let looks = 0;
    await until(
      async () => {
        const now = (await blocking()).length;
        looks = now === kinds ? looks + 1 : 1;
        kinds = now;
        return kinds > 0 && looks === 4;
      },
      'a worker of each kind of job waits',
      { everyMs: 500, withinMs: 90_000 },
    );
    expect(await namesOf('worker')()).toEqual(
      ['jobs', 'limits', 'news', 'run-log'].map((use) => `agent-service-worker:${use}`),
    );
    expect(new Set(await blocking()).size).toBe(kinds);
    expect(kinds).toBeLessThanOrEqual(MOST_KINDS_OF_JOBS);
  });

  it('that hangs: one request waits for it, the next are served at once, and readiness says so', async () => {
    const redis = await kept(RedisServers.single());
    const network = await CuttableProxy.start({ host: '127.0.0.1', port: redis.ports[0] ?? 0 });
    const service = await start(`redis://127.0.0.1:${network.port}`, 'all');
    const client = new ServiceClient(service, key);
    const { agentId, threadId } = await client.thread();
    const read = async (): Promise<number> => {
      const askedAt = performance.now();
      const { ok, headers } = await client.fetch('POST', '/v1/threads', { assistant_id: agentId });
      expect([ok, headers.has('ratelimit-remaining')]).toEqual([true, true]);
      return performance.now() - askedAt;
    };
    await read();
    network.stall('everything');
    const times: number[] = [];
    for (let count = 0; count < 20; count += 1) times.push(await read());
    // Each of them would have waited for half a second. A machine may be slow by itself.
    expect(times.filter((ms) => ms < 450).length).toBeGreaterThan(2);
    expect(await redisOf(client)).toBe('away');
    models.next(says('Hello'));
    expect((await client.streamed(threadId, 'Hello')).at(-1)?.type).toBe('RUN_FINISHED');
    network.cut();
    network.restore();
    await until(async () => (await redisOf(client)) === 'ok', 'Redis answers again', { everyMs: 50 });
    await service.kill();
    await network.close();
  });
});
