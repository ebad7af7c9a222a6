import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { startService, type TestService, until } from '../../support/harness.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { calls, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import { addIntegration, connect, removeIntegration } from '../../support/tool-integrations.js';

const ENVIRONMENT = {
  slug: 'environment',
  name: 'Environment',
  transport: 'local',
  command: process.execPath,
  args: [resolve('test/support/stdio-server.mjs')],
  env: { FOR_ALL: 'the same' },
  envNames: ['API_KEY', 'API_REGION'],
};

let folder: string;
let dataDir: string;
let service: TestService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'local-apps-'));
  dataDir = join(folder, 'data');
  const catalogue = join(folder, 'apps.json');
  writeFileSync(catalogue, JSON.stringify({ apps: [ENVIRONMENT] }));
  // One process: apps with a state file need it.
  service = await startService({ environment: { DATA_DIR: dataDir, MCP_CATALOGUE: catalogue, REDIS_URL: '' } });
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => service.models.reset());

const managed = (app: string, envMap?: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> => ({
  type: 'managed-mcp',
  app,
  ...(envMap && { secrets: { envMap } }),
});

/** The result of the tool, which the model calls. */
async function answerOf(talk: Talk, tool: string, input: object = {}): Promise<string> {
  service.models.next(calls(tool, input), says('Done.'));
  const { body } = await talk.run('Go');
  expect(body).toMatchObject({
    run: { status: 'completed' },
    message: { content: 'Done.', toolCalls: [{ name: tool, status: 'completed' }] },
  });
  return anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {}).at(-1)?.output ?? '';
}

const folderOf = (id: string): string => join(dataDir, 'integrations', id);
const ada = { entities: [{ name: 'Ada', entityType: 'person', observations: ['likes tea'] }] };

describe('a local app of the catalogue', () => {
  it('is connected when it is created, and runs call its tools', async () => {
    const talk = await Talk.start(service);
    const { tools } = await connect(service, talk, managed('everything'));
    expect(tools.map(({ name }) => name)).toContain('get-sum');
    expect(await answerOf(talk, 'mcp__everything__get-sum', { a: 19, b: 23 })).toContain('42');
  });

  it('keeps its data for later runs and over a restart, apart from other organizations, until the integration is removed', async () => {
    const [one, two] = [await Talk.start(service), await Talk.start(service)];
    const { id } = await connect(service, one, managed('memory'));
    await connect(service, two, managed('memory'));
    await answerOf(one, 'mcp__memory__create_entities', ada);
    expect(await answerOf(await one.another(), 'mcp__memory__read_graph')).toContain('likes tea');
    expect(await answerOf(two, 'mcp__memory__read_graph')).not.toContain('Ada');

    // Another process with the same folder starts the server again.
    const restarted = await service.replica();
    expect(await answerOf(one.on(restarted), 'mcp__memory__read_graph')).toContain('likes tea');
    await restarted.close();

    expect(existsSync(folderOf(id))).toBe(true);
    await removeIntegration(service, one, id);
    await until(() => !existsSync(folderOf(id)), 'the folder is removed');
    await connect(service, one, managed('memory'));
    expect(await answerOf(one, 'mcp__memory__read_graph')).not.toContain('Ada');
  });

  it('leaves no folder for long if another process removed its integration, and nothing else is removed', async () => {
    const talk = await Talk.start(service);
    const { id } = await connect(service, talk, managed('memory'));
    await answerOf(talk, 'mcp__memory__create_entities', ada);
    const [gone, justMade] = [newId(), newId()];
    for (const name of [gone, justMade, 'notes']) mkdirSync(folderOf(name));
    writeFileSync(join(folderOf(gone), 'state'), 'kept');
    for (const name of [id, gone, 'notes']) utimesSync(folderOf(name), new Date(0), new Date(0));

    const restarted = await service.replica();
    await until(() => !existsSync(folderOf(gone)), 'the folder is removed');
    // Stopping waits until all folders were checked.
    await restarted.close();
    expect([id, justMade, 'notes'].map((name) => existsSync(folderOf(name)))).toEqual([true, true, true]);
    expect(await answerOf(talk, 'mcp__memory__read_graph')).toContain('likes tea');
  });

  it('has separate data for two agents of one organization', async () => {
    const one = await Talk.start(service);
    const two = await one.withAnotherAgent();
    await connect(service, one, managed('memory'));
    await connect(service, two, managed('memory'));
    await answerOf(one, 'mcp__memory__create_entities', ada);
    expect(await answerOf(two, 'mcp__memory__read_graph')).not.toContain('Ada');
  });
});

describe('the environment of a local app', () => {
  const before = process.env['SERVICE_CANARY'];

  beforeEach(() => {
    process.env['SERVICE_CANARY'] = 'service-canary';
  });
  afterEach(() => {
    if (before === undefined) delete process.env['SERVICE_CANARY'];
    else process.env['SERVICE_CANARY'] = before;
  });

  it('consists of the catalogue’s variables and the integration’s secrets, without the service’s own', async () => {
    const talk = await Talk.start(service);
    const envMap = { API_KEY: 'key-canary-1', API_REGION: 'north' };
    const made = await connect(service, talk, managed('environment', envMap));
    expect(JSON.stringify(made)).not.toContain('canary');
    const shown = JSON.parse(await answerOf(talk, 'mcp__environment__environment')) as Record<string, string>;
    // Another value would be in the output.
    expect(shown).toMatchObject({ API_KEY: '[redacted]', API_REGION: 'north', FOR_ALL: 'the same' });
    const known = ['API_KEY', 'API_REGION', 'FOR_ALL', 'PATH', 'HOME', 'TMPDIR', 'LANG', 'PWD', 'cwd'];
    expect(Object.keys(shown).filter((name) => !known.includes(name) && !name.startsWith('__'))).toEqual([]);
    expect(JSON.stringify(shown)).not.toMatch(/service-canary|managed-anthropic-key|postgres:/);
  });

  it('must be complete: without a value the server is not started, and the error names it', async () => {
    const talk = await Talk.start(service);
    const added = await addIntegration(service, talk, managed('environment', { API_REGION: 'north' }));
    expect(added).toMatchObject({ status: 'error', error: expect.stringContaining('API_KEY'), tools: [] });
  });
});
