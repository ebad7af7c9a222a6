import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newId } from '../../src/platform/ids/index.js';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { operate, type OperatorOutcome, written } from '../support/operator-process.js';
import { ServiceProcess } from '../support/service-process.js';

// Starts processes.
const COMMANDS = [
  'agent set',
  'jobs list',
  'jobs retry',
  'key create',
  'key list',
  'key revoke',
  'member add',
  'member list',
].concat([
  'backup',
  'migrate',
  'org create',
  'org list',
  'org set',
  'org show',
  'restore',
  'secrets forget',
  'secrets rotate',
  'website select',
]);
const root = mkdtempSync(join(tmpdir(), 'command-line-'));
const untouched = join(root, 'untouched');
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Bytes of code that one command may load, which takes most of its time. A service loads 12 MB in 400 modules. */
const CODE = { help: 40_000, 'with the service running': 1_500_000, 'without a service': 4_000_000 };

/** What the process of one command has loaded at its end. */
async function loadedBy(
  line: string,
  environment: Readonly<Record<string, string>>,
): Promise<{ modules: number; bytes: number }> {
  const file = join(root, 'loaded.json');
  const recorded = {
    ...environment,
    LOADED_CODE: file,
    NODE_OPTIONS: `--import ${resolve('test/support/record-loaded-code.mjs')}`,
  };
  expect((await written(words(line), recorded)).code).toBe(0);
  return JSON.parse(readFileSync(file, 'utf8')) as { modules: number; bytes: number };
}

const words = (line: string): string[] => (line === '' ? [] : line.split(' '));

describe('the command line, before it opens anything', () => {
  /** With an invalid setting, since help has to work without valid settings. */
  const say = (line: string) => written(words(line), { DATA_DIR: untouched, PORT: 'none' });

  it.each(['--help', '-h', 'help'])('prints the list of commands for %s', async (line) => {
    const { code, output, complaint } = await say(line);
    expect([code, complaint]).toEqual([0, '']);
    for (const name of COMMANDS) expect(output).toMatch(new RegExp(`^  ${name}  `, 'm'));
    expect(existsSync(untouched)).toBe(false);
  });

  it.each(COMMANDS)('prints the usage of %s', async (name) => {
    const { code, output, complaint } = await say(`${name} --help`);
    expect([code, complaint]).toEqual([0, '']);
    expect(output).toMatch(new RegExp(`^usage: npm run -s cli -- ${name}\\b`));
  });

  it.each([
    ['org lst', /^unknown command 'org lst'; did you mean 'org list'\?/],
    ['orgs', /^unknown command 'orgs'; did you mean 'org /],
    ['help nonsense', /^unknown command 'nonsense'/],
    ['org', /^unknown command 'org'; the commands that begin so are: org create, org set, org list, org show$/m],
    ['org list --nmae x', /^unknown option --nmae; usage: org list$/m],
    ['org create --nmae x', /^unknown option --nmae; did you mean --name\?/],
    ['member list', /^--org is required; usage: member list --org <id>$/m],
  ])('refuses "%s" in one line, and creates nothing', async (line, message) => {
    const { code, output, complaint } = await say(line);
    expect([code, output]).toEqual([2, '']);
    expect(complaint).toMatch(/^[^\n]+\n$/);
    expect(complaint).toMatch(message);
    expect(existsSync(untouched)).toBe(false);
  });

  it('loads only the names of the commands for help', async () => {
    const { modules, bytes } = await loadedBy('--help', { DATA_DIR: untouched });
    expect(modules).toBeLessThan(15);
    expect(bytes).toBeLessThan(CODE.help);
  });

  it('prints its usage without a command', async () => {
    const { code, output, complaint } = await say('');
    expect([code, output]).toEqual([2, '']);
    expect(complaint).toMatch(/^usage: npm run -s cli -- <command>/);
  });
});

describe.each(['with the service running', 'without a service'] as const)('the command line, %s', (mode) => {
  let data: DataFolder;
  let service: ServiceProcess | undefined;

  beforeAll(async () => {
    data = await dataFolder();
    if (mode === 'with the service running')
      service = await ServiceProcess.start({ environment: { DATA_DIR: data.path } });
  });
  afterAll(async () => {
    await service?.kill();
    data.remove();
  });

  const run = (line: string): Promise<OperatorOutcome> => operate(words(line), { DATA_DIR: data.path });

  it('lists and shows organizations, their members and keys', async () => {
    const { id, ownerId } =
      (await run('org create --name Acme --plan enterprise --features hipaa --agent-limit 3 --owner-email o@acme.test'))
        .answer ?? {};
    const acme = {
      ...{
        id,
        name: 'Acme',
        plan: 'enterprise',
        features: ['ai_gateway', 'session_start_hook', 'hipaa'],
        agentLimit: 3,
      },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      retainDays: null,
    };
    const { organizations } = (await run('org list')).answer as { organizations: { name: string }[] };
    expect(organizations.at(-1)).toEqual(acme);
    expect((await run(`org show ${String(id)}`)).answer).toEqual(acme);

    const member = (await run(`member add ${String(id)} --email m@acme.test --role member`)).answer;
    expect((await run(`member list --org ${String(id)}`)).answer).toEqual({
      members: [
        { id: ownerId, email: 'o@acme.test', role: 'owner' },
        { id: member?.['id'], email: 'm@acme.test', role: 'member' },
      ],
    });

    const { id: keyId, key } =
      (await run(`key create --org ${String(id)} --capabilities chat,manageApiKeys --name First`)).answer ?? {};
    const listed = (await run(`key list --org ${String(id)}`)).answer;
    expect(listed).toEqual({
      apiKeys: [
        {
          ...{
            id: keyId,
            name: 'First',
            last4: String(key).slice(-4),
            capabilities: ['chat', 'manageApiKeys'],
            agentIds: null,
          },
          ...{ createdAt: expect.any(String), expiresAt: null, lastUsedAt: null },
        },
      ],
    });
    if (!service) return;
    const answer = await fetch(`${service.url}/v1/api-keys`, { headers: { authorization: `Bearer ${String(key)}` } });
    expect(await answer.json()).toEqual(listed);
  });

  it.each(['org show', 'key list --org', 'member list --org'])(
    'reports an organization that does not exist: %s',
    async (command) => {
      const unknown = newId();
      expect(await run(`${command} ${unknown}`)).toEqual({
        code: 1,
        answer: undefined,
        complaint: `There is no organization ${unknown}.\n`,
      });
      const { code, complaint } = await run(`${command} acme`);
      expect([code, complaint]).toEqual([1, expect.stringContaining("'acme' is not an id (a UUID)")]);
    },
  );

  it('loads only what the command needs', async () => {
    const { modules, bytes } = await loadedBy('org list', { DATA_DIR: data.path });
    expect(modules).toBeLessThan(60);
    expect(bytes).toBeLessThan(CODE[mode]);
  });
});
