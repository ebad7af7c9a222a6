import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { BASE } from '../../src/platform/database/index.js';
import { dataFolder } from '../support/data-folder.js';
import { until } from '../support/harness.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { clusterOnly } from '../support/modes.js';
import { breaksOffAfter, refuses, says, ScriptedModels } from '../support/scripted-models.js';
import { type ProcessOptions, ServiceProcess } from '../support/service-process.js';
import { ServiceClient } from './service-client.js';

// Each test starts processes.
let environment: ModeEnvironment;
const folders: string[] = [];
const started: ServiceProcess[] = [];

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'service-start-'));
  folders.push(made);
  return made;
}

async function start(options: ProcessOptions): Promise<ServiceProcess> {
  const service = await ServiceProcess.start(options);
  started.push(service);
  return service;
}

/** The output of a start that fails, and its exit code. */
async function refusedStart(options: ProcessOptions): Promise<{ code: number | null; said: string }> {
  const service = ServiceProcess.spawn(options);
  const code = await service.ended();
  return { code, said: service.written };
}

beforeAll(async () => {
  environment = await modeEnvironment();
});
afterEach(() => Promise.all(started.splice(0).map((service) => service.kill())));
afterAll(async () => {
  await environment.close();
  for (const made of folders) rmSync(made, { recursive: true, force: true });
});

describe('a second process on the same data folder', () => {
  it('refuses to start with one line that names the folder, and does not affect the first one', async () => {
    const data = await dataFolder();
    folders.push(data.path);
    const DATA_DIR = data.path;
    const first = await start({ environment: { DATA_DIR } });
    const { code, said } = await refusedStart({ environment: { DATA_DIR } });
    expect(code).toBe(1);
    expect(said).toMatch(/^[^\n]+\n$/);
    expect(said).toContain(DATA_DIR);
    expect((await fetch(`${first.url}/health/ready`)).status).toBe(200);
  });
});

describe('a wrong setting', () => {
  const canary = 'value-canary';
  it.each([
    ['PORT', { PORT: canary }],
    ['ANTHROPIC_BASE_URL', { ANTHROPIC_BASE_URL: `ftp://${canary}` }],
    ['SECRETS_KEY', { SECRETS_KEY: canary }],
    [
      'WORKFLOW_PLATFORM_TOKEN',
      { WORKFLOW_PLATFORM_URL: 'https://flows.example/{nameSlug}/mcp', WORKFLOW_PLATFORM_TOKEN: `${canary} ` },
    ],
    ['SECRETS_KEY', { DATABASE_URL: `postgresql://u:${canary}@127.0.0.1/x`, SECRETS_KEY: '', REDIS_URL: '' }],
  ])('(%s) stops the start with one line that names it, not its value; exit code 1', async (name, wrong) => {
    const { code, said } = await refusedStart({ environment: { DATA_DIR: folder(), ...wrong } });
    expect(code).toBe(1);
    expect(said).toMatch(new RegExp(`^${name}: [^\\n]+\\n$`));
    expect(said).not.toContain(canary);
  });

  it('(no database of its own) stops the start of a worker; the error names the remedy', async () => {
    const { code, said } = await refusedStart({ role: 'worker', environment: { DATA_DIR: folder() } });
    expect(code).toBe(1);
    expect(said).toMatch(/^DATABASE_URL: [^\n]*npm start[^\n]*\n$/);
  });
});

clusterOnly('a database that another process is migrating', () => {
  it('delays the start; the log and the command line say so', async () => {
    const own = await modeEnvironment();
    const other = new Client({ connectionString: own.variables['DATABASE_URL'] });
    await other.connect();
    await other.query('select pg_advisory_lock(7216943001)');
    const variables = { DATA_DIR: folder(), LOG_LEVEL: 'info', ...own.variables };
    const service = ServiceProcess.spawn({ environment: variables });
    const command = ServiceProcess.spawn({ environment: variables, entry: resolve('dist/cli.js'), role: 'migrate' });
    started.push(service);
    await until(
      () => service.written.includes('Waiting for another process that is migrating the database'),
      'the log says so',
    );
    await until(
      () => command.written === 'waiting for another process that is migrating the database\n',
      'the command says so',
    );
    expect(service.exited || command.exited).toBe(false);
    await other.end();
    expect(await command.ended()).toBe(0);
    await until(() => service.written.includes('Listening on'), 'the service starts');
    await service.kill();
    await own.close();
  });
});

describe('a start that a setting makes impossible', () => {
  const key = Buffer.alloc(32, 5).toString('base64');

  async function expectOneLine(line: RegExp, wrong: Readonly<Record<string, string>>): Promise<void> {
    const { code, said } = await refusedStart({ environment: { DATA_DIR: folder(), ...wrong } });
    expect(said).toMatch(/^[^\n]+\n$/);
    expect(said).toMatch(line);
    expect(code).toBe(1);
  }

  it.each([
    [
      'an address of another machine',
      /^HOST: 203\.0\.113\.9 is not an address of this machine$/m,
      { HOST: '203.0.113.9' },
    ],
    [
      'a host without an address',
      /^HOST: no\.such\.host\.invalid cannot be resolved/,
      { HOST: 'no.such.host.invalid' },
    ],
    [
      'a database server that is not there',
      /^DATABASE_URL: nothing listens at 127\.0\.0\.1:1$/m,
      { DATABASE_URL: 'postgresql://u:password-canary@127.0.0.1:1/x', SECRETS_KEY: key },
    ],
    [
      'a database server without an address',
      /^DATABASE_URL: no\.such\.host\.invalid cannot be resolved/,
      { DATABASE_URL: 'postgresql://u:password-canary@no.such.host.invalid/x', SECRETS_KEY: key },
    ],
  ])('(%s) ends in one line that names the setting; exit code 1', async (_what, line, wrong) => {
    await expectOneLine(line, wrong);
  });

  it('(a data folder that is a file) ends in one line that names the setting; exit code 1', async () => {
    const file = join(folder(), 'file');
    writeFileSync(file, '');
    await expectOneLine(/^DATA_DIR: .* cannot be written to/, { DATA_DIR: file });
  });

  it('(a database that is damaged) ends in one line that names the setting and leaves the files as they are; exit code 1', async () => {
    const database = join(folder(), 'database');
    mkdirSync(database);
    writeFileSync(join(database, 'PG_VERSION'), 'damaged');
    await expectOneLine(/^DATA_DIR: the database in .* does not start \(.*\); it is damaged, or is none\. Restore/, {
      DATA_DIR: dirname(database),
    });
    expect(readdirSync(database)).toEqual(['PG_VERSION']);
  });

  it('(a catalogue that does not exist, or is invalid) ends in one line that names the setting; exit code 1', async () => {
    const path = join(folder(), 'catalogue.json');
    await expectOneLine(/^MCP_CATALOGUE: /, { MCP_CATALOGUE: path });
    writeFileSync(path, JSON.stringify({ apps: [{ slug: 'x', name: 'X', transport: 'local', command: 'a/b' }] }));
    await expectOneLine(/^MCP_CATALOGUE: entry 1 \(x\): command: /, { MCP_CATALOGUE: path });
  });

  it('(a port in use) ends in one line that names it; the first key is not lost', async () => {
    const data = await dataFolder();
    folders.push(data.path);
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const PORT = String((taken.address() as AddressInfo).port);
    await expectOneLine(new RegExp(`^PORT: ${PORT} is in use on 127\\.0\\.0\\.1`), { DATA_DIR: data.path, PORT });
    taken.close();
    await once(taken, 'close');
    // Any other port: another process may use this one by now.
    const service = await start({ environment: { DATA_DIR: data.path } });
    expect(service.firstKey).toBeDefined();
  });

  clusterOnly('with servers', () => {
    it('(a database or a user that the server does not have) creates neither', async () => {
      const url = new URL(environment.variables['DATABASE_URL'] ?? '');
      url.pathname = `/missing_${Date.now()}`;
      const missing = { DATABASE_URL: url.href, SECRETS_KEY: key };
      for (const _time of [1, 2]) await expectOneLine(/^DATABASE_URL: database "missing_\d+" does not exist/, missing);
      url.username = 'no_such_user';
      await expectOneLine(/^DATABASE_URL: the server does not let this user in: /, {
        ...missing,
        DATABASE_URL: url.href,
      });
    });

    it('does not need a Redis that is unreachable: the service starts, and logs this once', async () => {
      const own = await modeEnvironment();
      const service = await start({
        environment: { ...own.variables, REDIS_URL: 'redis://127.0.0.1:1', DATA_DIR: folder() },
      });
      const ready = await fetch(`${service.url}/health/ready`);
      expect(ready.status).toBe(200);
      expect(await ready.json()).toMatchObject({
        status: 'ok',
        checks: { database: 'ok', files: 'ok' },
        redis: 'away',
      });
      for (const line of ['Redis cannot be reached', 'The job queue cannot be reached']) {
        await until(() => service.written.includes(line), 'the log says so');
        expect(service.written.split(line)).toHaveLength(2);
      }
      expect(service.written).not.toContain('The job queue reported an error');
      await service.kill();
      await own.close();
    });

    it('needs no Redis: the database has the jobs, and the log has no warning', async () => {
      const own = await modeEnvironment();
      const service = await start({ environment: { ...own.variables, REDIS_URL: '', DATA_DIR: folder() } });
      const ready = await fetch(`${service.url}/health/ready`);
      expect(ready.status).toBe(200);
      expect(await ready.json()).not.toHaveProperty('redis');
      expect(service.written).not.toContain('Warning');
      await service.kill();
      await own.close();
    });
  });
});

describe('the demo', () => {
  it('answers from the sandbox, in an empty folder and without any key; the output says so', async () => {
    const service = await start({ role: 'demo', environment: { DATA_DIR: folder() } });
    expect(service.written).toMatch(/sandbox/i);
    const client = new ServiceClient(service, service.firstKey ?? '');
    const { threadId } = await client.thread();
    const events = await client.streamed(threadId, 'Hello?');
    const end = events.at(-1);
    expect(end).toMatchObject({ type: 'RUN_FINISHED', result: { run: { status: 'completed' } } });
    expect(end?.result?.message?.content).toMatch(/sandbox/i);
  });

  it('documents its interface completely, although its programs are bundled: every reference has a schema', async () => {
    const service = await start({ role: 'demo', environment: { DATA_DIR: folder() } });
    const document = await (await fetch(`${service.url}/v1/openapi.json`)).text();
    const { components } = JSON.parse(document) as { components: { schemas: Readonly<Record<string, object>> } };
    const referredTo = [...document.matchAll(/"#\/components\/schemas\/([^"]*)"/g)].map(([, name = '']) => name);
    expect(referredTo).toContain('RunMessageBody');
    expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining([...new Set(referredTo)]));
  });
});

describe('the output of the process', () => {
  it('has no key at any log level except the first one, once the service listens', async () => {
    const models = await ScriptedModels.start();
    const data = await dataFolder();
    folders.push(data.path);
    const variables = { DATA_DIR: data.path, LOG_LEVEL: 'trace', ...models.environment, ...environment.variables };
    const first = await start({ environment: variables });
    const key = first.firstKey ?? '';
    expect(key).not.toBe('');
    const welcomed = first.written.lastIndexOf(key) + key.length;
    const client = new ServiceClient(first, key);
    const provider = { type: 'anthropic', useOwnApiKey: true, apiKey: 'own-key-canary' };
    const agent = await client.call<{ id: string }>('POST', '/v1/agents', { name: 'A', provider });
    const thread = await client.call<{ id: string }>('POST', '/v1/threads', { assistant_id: agent.id });
    models.next(says('Hello'), refuses(401), breaksOffAfter('Half'));
    for (const text of ['prompt-canary', 'prompt-canary', 'prompt-canary']) await client.streamed(thread.id, text);
    await client.fetch('POST', `/v1/threads/${thread.id}/runs`, { message: { role: 'user' }, apiKey: 'body-canary' });
    await client.fetch('GET', `/v1/threads?api_key=${key}&token=query-canary`);
    await first.kill();
    const second = await start({ environment: variables });
    await models.close();

    const later = first.written.slice(welcomed) + second.written;
    expect(later).not.toContain(key);
    expect(first.written + second.written).not.toMatch(/canary|managed-\w+-key/);
    if (environment.variables['SECRETS_KEY'])
      expect(first.written + second.written).not.toContain(environment.variables['SECRETS_KEY']);
  });
});

clusterOnly('a build that is older than the database allows', () => {
  const add = `insert into schema_migrations (name, release, oldest_build) values ('2999010100_later', '9.0.0', $1)`;

  it('does not start, and says both versions in one line; it starts where the newer migrations allow it', async () => {
    const own = await modeEnvironment();
    const client = new Client({ connectionString: own.variables['DATABASE_URL'] });
    await client.connect();
    try {
      await (await start({ environment: { ...own.variables, DATA_DIR: folder() } })).kill();
      await client.query(add, ['2998010100_earlier']);
      const options = { environment: { ...own.variables, DATA_DIR: folder() } };
      const { code, said } = await refusedStart(options);
      expect(code).toBe(1);
      expect(said).toMatch(/^The database is at 2999010100_later \(release 9\.0\.0\), and this build is at [^\n]+\n$/);
      await client.query('update schema_migrations set oldest_build = $1 where release = $2', [BASE, '9.0.0']);
      await start(options);
    } finally {
      await client.end();
      await own.close();
    }
  });

  it('stops where it works on jobs, with exit code 1 and the same line in its log; else it is not ready', async () => {
    const own = await modeEnvironment();
    const client = new Client({ connectionString: own.variables['DATABASE_URL'] });
    await client.connect();
    try {
      const environment = { ...own.variables, DATA_DIR: folder(), LOG_LEVEL: 'info', METRICS_PORT: '0' };
      const api = await start({ environment, role: 'api' });
      const entry = resolve('test/support/hurried-service.mjs');
      const working = (['worker', 'all'] as const).map((role) => ServiceProcess.spawn({ environment, entry, role }));
      started.push(...working);
      await until(() => working.every(({ written }) => /The worker is ready|"Ready"/.test(written)), 'they work');
      await client.query(add, ['2998010100_earlier']);
      await until(() => working.every(({ exited }) => exited), 'they stop');
      for (const process of working) {
        expect(await process.ended()).toBe(1);
        expect(process.written).toMatch(
          /"reason":"The database is at 2999010100_later \(release 9\.0\.0\), and this build/,
        );
      }
      const ready = await fetch(`${api.url}/health/ready`);
      expect(ready.status).toBe(503);
      expect(await ready.text()).toContain('The database is at 2999010100_later (release 9.0.0)');
      const { rows } = await client.query('select id from job_workers');
      expect(rows).toEqual([]);
    } finally {
      await Promise.all(started.splice(0).map((process) => process.kill()));
      await client.end();
      await own.close();
    }
  });
});
