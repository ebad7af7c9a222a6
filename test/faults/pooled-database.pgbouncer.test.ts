import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { newId } from '../../src/platform/ids/index.js';
import { CuttableProxy } from '../support/cuttable-proxy.js';
import { filePart, multipart } from '../support/files.js';
import { filesPath, type KnowledgeFile } from '../support/knowledge.js';
import { modeEnvironment } from '../support/mode-environment.js';
import { clusterOnly } from '../support/modes.js';
import { PgBouncer } from '../support/pg-bouncer.js';
import { says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import { ServiceClient } from './service-client.js';

/** Fewer than the two services have connections to the pooler, so that every statement may meet any of them. */
const SERVER_CONNECTIONS = 3;
const CUSTOMERS = 8;

clusterOnly('two services behind PgBouncer in transaction mode', () => {
  let models: ScriptedModels;
  let environment: Awaited<ReturnType<typeof modeEnvironment>>;
  let network: CuttableProxy;
  let pooler: PgBouncer;
  let variables: Record<string, string>;
  let services: readonly ServiceProcess[];
  let clients: readonly ServiceClient[];
  let key: string;
  let direct: Pool;

  beforeAll(async () => {
    models = await ScriptedModels.start();
    models.always(says('The answer'));
    environment = await modeEnvironment();
    const url = environment.variables['DATABASE_URL'] ?? '';
    const server = new URL(url);
    network = await CuttableProxy.start({ host: server.hostname, port: Number(server.port) });
    server.hostname = '127.0.0.1';
    server.port = String(network.port);
    pooler = await PgBouncer.start(server.href, SERVER_CONNECTIONS);
    direct = new Pool({ connectionString: url });
    variables = {
      ...models.environment,
      ...environment.variables,
      DATABASE_URL: pooler.to(url),
      DATABASE_DIRECT_URL: server.href,
    };
    const first = await ServiceProcess.start({ environment: variables });
    services = [first, await ServiceProcess.start({ environment: variables })];
    key = first.firstKey ?? '';
    clients = services.map((service) => new ServiceClient(service, key));
  });

  afterAll(async () => {
    await Promise.all(services.map((service) => service.kill()));
    await direct.end();
    await pooler.stop();
    await network.close();
    await models.close();
    await environment.close();
  });

  it('serve chats, streams, knowledge, jobs and deletions at the same time, without an error', async () => {
    await Promise.all(
      Array.from({ length: CUSTOMERS }, (_, number) => {
        const [here, there] = number % 2 === 0 ? [0, 1] : [1, 0];
        return beCustomer(services[here], clients[here], clients[there]);
      }),
    );
    const written = services.map((service) => service.written).join('\n');
    expect(written).not.toMatch(/prepared statement|"level":(50|60)/);
  });

  it.each([
    [
      'DATABASE_DIRECT_URL is not set',
      'pooler',
      null,
      /^DATABASE_DIRECT_URL: is required, because DATABASE_URL leads to a/m,
    ],
    ['both lead to it', 'pooler', 'pooler', /^DATABASE_DIRECT_URL: leads to a connection pooler /m],
    [
      'both lead to it under different names',
      'pooler',
      'pooler?application_name=x',
      /^DATABASE_DIRECT_URL: leads to a connection pooler /m,
    ],
    ['they are exchanged', 'server', 'pooler', /^DATABASE_DIRECT_URL: leads to a connection pooler /m],
  ])('are not started when %s', async (_what, queries, migrations, line) => {
    const { DATABASE_URL: url = '', DATABASE_DIRECT_URL: server = '' } = variables;
    const address = (name: string): string => name.replace('pooler', url).replace('server', server);
    const started = ServiceProcess.start({
      environment: {
        ...variables,
        DATABASE_URL: address(queries),
        DATABASE_DIRECT_URL: migrations === null ? '' : address(migrations),
      },
    });
    await expect(started).rejects.toThrow(line);
  });

  it('are started with one address when the pooler keeps sessions', async () => {
    const sessions = await PgBouncer.start(variables['DATABASE_DIRECT_URL'] ?? '', 20, 'session');
    const url = sessions.to(variables['DATABASE_URL'] ?? '');
    try {
      const environment = { ...variables, DATABASE_URL: url, DATABASE_DIRECT_URL: url };
      const service = await ServiceProcess.start({ environment });
      await service.kill();
    } finally {
      await sessions.stop();
    }
  });

  it('are known to the database by name', async () => {
    const { rows } = await direct.query<{ name: string }>(
      'select distinct application_name as name from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    expect(rows.map(({ name }) => name)).toContain('agent-service');
  });

  it('answer 503 when the server behind the pooler goes silent, and serve again when it is back', async () => {
    const read = async (): Promise<number | undefined> => (await clients[0]?.fetch('GET', '/v1/threads'))?.status;
    network.stall('everything');
    const askedAt = performance.now();
    expect(await read()).toBe(503);
    expect(performance.now() - askedAt).toBeLessThan(25_000);
    network.restore();
    await until(async () => (await read()) === 200, 'the service answers');
  });

  it('do not start without an address past the pooler, and the line names the setting', async () => {
    const { DATABASE_DIRECT_URL: _direct, ...others } = variables;
    const service = ServiceProcess.spawn({ environment: others });
    expect(await service.ended()).not.toBe(0);
    expect(service.written.trim()).toMatch(/^DATABASE_DIRECT_URL: is required[^\n]*$/);
  });

  async function beCustomer(
    service: ServiceProcess | undefined,
    here: ServiceClient | undefined,
    there: ServiceClient | undefined,
  ): Promise<void> {
    if (!service || !here || !there) throw new Error('There are two services');
    const { agentId, threadId } = await here.thread();
    for (const client of [here, there, here]) {
      const path = `/v1/threads/${threadId}/runs`;
      const { run } = await client.call<{ run: { status: string } }>('POST', path, {
        message: { role: 'user', content: 'Hello' },
      });
      expect(run.status).toBe('completed');
      expect((await client.streamed(threadId, 'Hello')).at(-1)?.type).toBe('RUN_FINISHED');
    }
    expect(await there.messages(threadId)).toHaveLength(12);

    const word = `word${newId().slice(-12)}`;
    const file = await upload(service, agentId, `The secret is ${word}.`);
    const isIndexed = async (): Promise<boolean> => {
      const { files } = await there.call<{ files: KnowledgeFile[] }>('GET', filesPath({ agentId }));
      return files.every(({ status }) => status === 'ready');
    };
    await until(isIndexed, 'the file is indexed', { everyMs: 50 });
    const found = await there.call<{ results: { sourceId: string }[] }>(
      'POST',
      `/v1/agents/${agentId}/knowledge-bases/search`,
      { query: word },
    );
    expect(found.results.map(({ sourceId }) => sourceId)).toEqual([file]);

    expect((await there.fetch('DELETE', `/v1/agents/${agentId}`)).status).toBe(200);
    expect((await there.fetch('GET', `/v1/threads/${threadId}`)).status).toBe(404);
    const left = async (): Promise<number> =>
      (await direct.query('select from messages where thread_id = $1', [threadId])).rows.length;
    await until(async () => (await left()) === 0, 'a job has removed the messages', { everyMs: 50 });
  }

  async function upload(service: ServiceProcess, agentId: string, text: string): Promise<string> {
    const { body, contentType } = multipart([filePart(text)]);
    const response = await fetch(service.url + filesPath({ agentId }), {
      method: 'POST',
      headers: { 'content-type': contentType, authorization: `Bearer ${key}` },
      body: new Uint8Array(body),
    });
    expect(response.status).toBe(201);
    return ((await response.json()) as KnowledgeFile).id;
  }
});
