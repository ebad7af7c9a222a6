import { cpSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { schemas } from '../../src/schemas.js';
import { SystemClock } from '../../src/platform/clock/index.js';
import { readSettings } from '../../src/platform/config/index.js';
import { migrate, openDatabase } from '../../src/platform/database/index.js';
import { newId } from '../../src/platform/ids/index.js';
import { MasterKeys, type SecretRef, Vault } from '../../src/platform/vault/index.js';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { until } from '../support/harness.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { operate } from '../support/operator-process.js';
import { anthropicWire } from '../support/provider-wire.js';
import { says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { ServiceClient } from './service-client.js';
import { clusterOnly, embeddedOnly } from '../support/modes.js';

// Each test starts processes.
const DIES = resolve('test/support/rotation-that-dies.mjs');
const SECRETS = 700;

type Variables = Readonly<Record<string, string>>;

let models: ScriptedModels;
let environment: ModeEnvironment;
let data: DataFolder;
const running: ServiceProcess[] = [];

beforeAll(async () => {
  models = await ScriptedModels.start();
});
beforeEach(async () => {
  environment = await modeEnvironment();
  data = await dataFolder();
  models.always(says('ok'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.kill()));
  await environment.close();
  data.remove();
});
afterAll(() => models.close());

const variables = (): Variables => ({ DATA_DIR: data.path, ...models.environment, ...environment.variables });

async function start(more: Variables = {}, entry?: string): Promise<ServiceProcess> {
  const service = await ServiceProcess.start({ environment: { ...variables(), ...more }, ...(entry && { entry }) });
  running.push(service);
  return service;
}

/** Works on the database with a vault of its own, while no service has the folder. */
async function withVault<Result>(
  work: (
    vault: Vault,
    database: Awaited<ReturnType<typeof openDatabase>>['database'],
    keys: MasterKeys,
  ) => Promise<Result>,
  more: Variables = {},
): Promise<Result> {
  const settings = readSettings({ ...variables(), ...more }, { role: 'all', demo: false });
  const open = await openDatabase(settings, schemas);
  try {
    await migrate(open);
    const keys = MasterKeys.load(settings);
    return await work(new Vault(open.database, keys, new SystemClock()), open.database, keys);
  } finally {
    await open.close();
  }
}

/** Thousands of secrets, each the text of its own record's id. */
function seed(): Promise<SecretRef[]> {
  const refs = Array.from({ length: SECRETS }, () => ({ organizationId: newId(), recordId: newId(), field: 'any' }));
  return withVault(async (vault, database) => {
    await database.transaction(async (transaction) => {
      for (const ref of refs) await vault.put(transaction, ref, ref.recordId);
    });
    return refs;
  });
}

/** Checks that no secret is lost, and that the current key opens all of them. */
async function expectAllUnderOneKey(refs: readonly SecretRef[], more: Variables = {}): Promise<void> {
  const [secrets, keyIds, current] = await withVault(async (vault, database, keys) => {
    const rows = await database.query<{ key_id: string }>('select distinct key_id from secrets');
    return [await vault.readMany(refs), rows.map((row) => row.key_id), keys.current.id] as const;
  }, more);
  expect(secrets).toEqual(refs.map(({ recordId }) => recordId));
  expect(keyIds).toEqual([current]);
}

/** An agent on a key of its own, with a thread. */
async function agentWith(
  client: ServiceClient,
  apiKey: string,
): Promise<{ id: string; threadId: string; apiKey: string }> {
  const provider = { type: 'anthropic', useOwnApiKey: true, apiKey };
  const { id } = await client.call<{ id: string }>('POST', '/v1/agents', { name: 'A', provider });
  const thread = await client.call<{ id: string }>('POST', '/v1/threads', { assistant_id: id });
  return { id, threadId: thread.id, apiKey };
}

async function expectKeySent(
  client: ServiceClient,
  { threadId, apiKey }: { threadId: string; apiKey: string },
): Promise<void> {
  const before = models.requests.length;
  await client.call('POST', `/v1/threads/${threadId}/runs`, { message: { role: 'user', content: 'Hi' } });
  expect(models.requests.slice(before).map(({ headers }) => anthropicWire.keyOf(headers))).toEqual([apiKey]);
}

const OTHER_KEY = { SECRETS_KEY: Buffer.alloc(32, 9).toString('base64') };

it('a start with another key than that of the stored secrets is refused in one line, until that key is back or its secrets are given up', async () => {
  const first = await start();
  const key = first.firstKey ?? '';
  const agent = await agentWith(new ServiceClient(first, key), 'own-key');
  await first.kill();

  const refused = ServiceProcess.spawn({ environment: { ...variables(), ...OTHER_KEY } });
  expect(await refused.ended()).toBe(1);
  expect(refused.written).toMatch(/^SECRETS_KEY: the stored secrets are encrypted with another master key [^\n]+\n$/);
  const second = await start();
  await expectKeySent(new ServiceClient(second, key), agent);
  await second.kill();

  expect(await operate(['secrets', 'forget'], variables())).toMatchObject({ code: 0, answer: { removed: 0 } });
  const forgotten = await operate(['secrets', 'forget'], { ...variables(), ...OTHER_KEY });
  expect(forgotten).toMatchObject({ code: 0, answer: { removed: expect.any(Number) } });
  expect(forgotten.answer?.['removed']).toBeGreaterThan(0);
  const third = new ServiceClient(await start(OTHER_KEY), key);
  await third.call('PUT', `/v1/agents/${agent.id}/provider-key`, { apiKey: 'new-key' });
  await expectKeySent(third, { ...agent, apiKey: 'new-key' });
});

const keyFiles = (): string[] => readdirSync(data.path).filter((name) => name.startsWith('secrets.key'));

embeddedOnly('a service with its key in DATA_DIR', () => {
  let seeded: DataFolder;
  let refs: readonly SecretRef[];

  beforeAll(async () => {
    [environment, data] = [await modeEnvironment(), await dataFolder()];
    refs = await seed();
    await environment.close();
    seeded = data;
  });
  beforeEach(() => {
    cpSync(seeded.path, data.path, { recursive: true });
  });
  afterAll(() => seeded.remove());

  it.each([
    ['the new key is stored'],
    ['some secrets are under the new key'],
    ['every secret is under the new key'],
    ['the old key is gone'],
  ])('that is killed when %s loses no secret, and its next start completes the rotation', async (step) => {
    const dying = await start({ DIE_AT: step }, DIES);
    const key = dying.firstKey ?? '';
    const agent = await agentWith(new ServiceClient(dying, key), 'own-key');
    const cut = await operate(['secrets', 'rotate'], variables());
    expect([cut.code, cut.answer]).toEqual([1, undefined]);
    expect(cut.complaint).toMatch(/^[^\n]+\n$/);
    await dying.ended();

    const next = await start();
    await expectKeySent(new ServiceClient(next, key), agent);
    await until(() => keyFiles().join() === 'secrets.key', 'the old key to be gone');
    await next.kill();
    await expectAllUnderOneKey(refs);
  });

  it('that is killed half-way is completed by `secrets rotate` too, without a service', async () => {
    const cli = { ...variables(), PROGRAM: 'cli', DIE_AT: 'some secrets are under the new key' };
    expect((await operate(['secrets', 'rotate'], cli, DIES)).code).toBe(null);
    expect(keyFiles().sort()).toEqual(['secrets.key', 'secrets.key.next']);
    const { answer } = await operate(['secrets', 'rotate'], variables());
    expect(answer).toEqual({ rotated: SECRETS - 500, keyId: expect.any(String), remaining: 0 });
    expect(keyFiles()).toEqual(['secrets.key']);
    await expectAllUnderOneKey(refs);
  });
});

clusterOnly('two processes whose keys are settings', () => {
  const oldKey = (): string => environment.variables['SECRETS_KEY'] ?? '';
  const newKey = Buffer.alloc(32, 9).toString('base64');
  const bothOldFirst = (): Variables => ({ SECRETS_KEY: oldKey(), SECRETS_KEY_FALLBACK: newKey });
  const bothNewFirst = (): Variables => ({ SECRETS_KEY: newKey, SECRETS_KEY_FALLBACK: oldKey() });

  /** Checks that each process can use what either of them writes. */
  async function expectBothRead(clients: readonly ServiceClient[], round: string): Promise<void> {
    for (const [index, writer] of clients.entries()) {
      const agent = await agentWith(writer, `own-${round}-${index}`);
      for (const reader of clients) await expectKeySent(reader, agent);
    }
  }

  it('read what either writes at every step of the procedure, and do not need the old key after it', async () => {
    const refs = await seed();
    let services = [await start(), await start()];
    const key = services.find(({ firstKey }) => firstKey !== undefined)?.firstKey ?? '';
    const clients = (): ServiceClient[] => services.map((service) => new ServiceClient(service, key));
    const first = await agentWith(clients()[0]!, 'own-first');

    // One process after the other, so that each pair of neighbouring steps meets.
    for (const [round, settings] of [bothOldFirst(), bothNewFirst()].entries()) {
      for (const index of [0, 1]) {
        await services[index]?.kill();
        services = services.with(index, await start(settings));
        await expectBothRead(clients(), `${round}-${index}`);
      }
    }

    const state = { done: false };
    const rotations = Promise.all(
      [1, 2].map(() => operate(['secrets', 'rotate'], { ...variables(), ...bothNewFirst() })),
    );
    void rotations.finally(() => (state.done = true));
    for (let round = 0; !state.done; round += 1) await expectBothRead(clients(), `meanwhile-${round}`);
    const outcomes = await rotations;
    expect(outcomes.map(({ code }) => code)).toEqual([0, 0]);
    for (const { answer } of outcomes) expect(answer).toMatchObject({ remaining: 0 });

    for (const index of [0, 1]) {
      await services[index]?.kill();
      services = services.with(index, await start({ SECRETS_KEY: newKey }));
      await expectBothRead(clients(), `after-${index}`);
    }
    for (const client of clients()) await expectKeySent(client, first);
    await expectAllUnderOneKey(refs, { SECRETS_KEY: newKey });
  });

  it('lose nothing when the command is killed half-way; a second run does the rest', async () => {
    const refs = await seed();
    const cli = { ...variables(), ...bothNewFirst() };
    const dying = { ...cli, PROGRAM: 'cli', DIE_AT: 'some secrets are under the new key' };
    expect((await operate(['secrets', 'rotate'], dying, DIES)).code).toBe(null);
    const { answer } = await operate(['secrets', 'rotate'], cli);
    expect(answer).toEqual({ rotated: SECRETS - 500, keyId: expect.any(String), remaining: 0 });
    await expectAllUnderOneKey(refs, { SECRETS_KEY: newKey });
  });
});
