import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { dataFolder } from '../support/data-folder.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { breaksOffAfter, refuses, says, ScriptedModels } from '../support/scripted-models.js';
import { type ProcessOptions, ServiceProcess } from '../support/service-process.js';
import { ServiceClient } from './service-client.js';

// Each test starts processes.
jest.setTimeout(120_000);

const CLUSTER = process.env['TEST_MODE'] === 'cluster';

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

/** What a start that fails says, and its exit code. */
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

const embeddedOnly = CLUSTER ? describe.skip : describe;

embeddedOnly('a second process on the same data folder', () => {
  it('refuses to start with one line that names the folder, and leaves the first one alone', async () => {
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
    ['SECRETS_KEY', { DATABASE_URL: `postgresql://u:${canary}@127.0.0.1/x`, SECRETS_KEY: '', REDIS_URL: '' }],
  ])('(%s) stops the start with one line that names it, not its value; exit code 1', async (name, wrong) => {
    const { code, said } = await refusedStart({ environment: { DATA_DIR: folder(), ...wrong } });
    expect(code).toBe(1);
    expect(said).toMatch(new RegExp(`^${name}: [^\\n]+\\n$`));
    expect(said).not.toContain(canary);
  });

  it('(no database of its own) stops a start as worker alone, saying what to do', async () => {
    const { code, said } = await refusedStart({ role: 'worker', environment: { DATA_DIR: folder() } });
    expect(code).toBe(1);
    expect(said).toMatch(/^DATABASE_URL: [^\n]*npm start[^\n]*\n$/);
  });
});

describe('the demo', () => {
  it('answers from the sandbox, in an empty folder and without any key, and says so', async () => {
    const service = await start({ role: 'demo', environment: { DATA_DIR: folder() } });
    expect(service.written).toMatch(/sandbox/i);
    const client = new ServiceClient(service, service.firstKey ?? '');
    const { threadId } = await client.thread();
    const events = await client.streamed(threadId, 'Hello?');
    const end = events.at(-1);
    expect(end).toMatchObject({ type: 'RUN_FINISHED', result: { run: { status: 'completed' } } });
    expect(end?.result?.message?.content).toMatch(/sandbox/i);
  });
});

describe('what the process writes', () => {
  it('holds no key at any log level but the first one, once the service listens', async () => {
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
    if (environment.variables['SECRETS_KEY']) expect(first.written + second.written).not.toContain(environment.variables['SECRETS_KEY']);
  });
});
