import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Settings } from '../../../src/platform/config/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { type RotationResult, Vault } from '../../../src/platform/vault/index.js';
import { filePart, upload } from '../../support/files.js';
import { message, startService, type TestOrganization, type TestService } from '../../support/harness.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { says } from '../../support/scripted-models.js';
import { createAgent } from './support.js';

/** In cluster mode keys are settings, which change with the process: `test/faults/rotate-secrets.test.ts`. */

describe('secrets rotate', () => {
  let service: TestService;
  let owner: TestOrganization;

  beforeAll(async () => {
    service = await startService();
    owner = await service.organization();
    service.models.always(says('ok'));
  });
  afterAll(() => service.close());

  async function agentWith(apiKey: string): Promise<{ id: string; thread: string }> {
    const { id } = await createAgent(service, owner, { provider: { type: 'anthropic', useOwnApiKey: true, apiKey } });
    return { id, thread: await service.thread(owner.key, id) };
  }

  /** The key in the provider's request of a run on the thread. */
  async function keySent(thread: string): Promise<unknown> {
    const before = new Set(service.models.requests);
    const run = await service.http('POST', `/v1/threads/${thread}/runs`, { key: owner.key, body: message(thread) });
    expect(run.status).toBe(200);
    const asked = service.models.requests.find(
      (request) => !before.has(request) && JSON.stringify(request.body).includes(thread),
    );
    return asked && anthropicWire.keyOf(asked.headers);
  }

  async function changeKey({ id }: { id: string }, apiKey: string): Promise<void> {
    const changed = await service.http('PUT', `/v1/agents/${id}/provider-key`, { key: owner.key, body: { apiKey } });
    expect(changed.status).toBe(200);
  }

  async function keyIds(): Promise<string[]> {
    const rows = await service.database.query<{ key_id: string }>('select distinct key_id from secrets');
    return rows.map(({ key_id: keyId }) => keyId);
  }

  async function manySecrets(count: number): Promise<void> {
    const vault = service.app.get(Vault);
    await service.database.transaction(async (transaction) => {
      for (let left = count; left > 0; left -= 1) {
        await vault.put(transaction, { organizationId: newId(), recordId: newId(), field: 'any' }, 'secret');
      }
    });
  }

  it('keeps the keys of agents readable before, during and after, and loses none that is written during it', async () => {
    const [kept, changed] = [await agentWith('own-kept'), await agentWith('own-0')];
    await manySecrets(1_500);
    expect([await keySent(kept.thread), await keySent(changed.thread)]).toEqual(['own-kept', 'own-0']);
    const [oldKey] = await keyIds();

    const state = { done: false };
    const rotation = service.cli<RotationResult & object>('secrets', 'rotate').finally(() => (state.done = true));
    let writes = 0;
    const made: { apiKey: string; thread: string }[] = [];
    while (!state.done || writes === 0) {
      writes += 1;
      await changeKey(changed, `own-${writes}`);
      expect(await keySent(changed.thread)).toBe(`own-${writes}`);
      const apiKey = `own-new-${writes}`;
      made.push({ apiKey, thread: (await agentWith(apiKey)).thread });
    }
    const result = await rotation;

    expect(result).toEqual({ rotated: expect.any(Number), keyId: expect.any(String), remaining: 0 });
    expect(result.rotated).toBeGreaterThanOrEqual(1_500);
    expect(result.keyId).not.toBe(oldKey);
    expect(await keyIds()).toEqual([result.keyId]);
    // Empties the caches, as five seconds would.
    await changeKey(kept, 'own-kept-2');
    expect(await keySent(kept.thread)).toBe('own-kept-2');
    expect(await keySent(changed.thread)).toBe(`own-${writes}`);
    for (const { apiKey, thread } of made) expect(await keySent(thread)).toBe(apiKey);
    const files = await readdir(service.app.get(Settings).dataDir);
    expect(files.filter((name) => name.startsWith('secrets.key'))).toEqual(['secrets.key']);
  });

  it('by two operators at once is one rotation', async () => {
    await agentWith('own-key');
    const [first, second] = await Promise.all([service.cli('secrets', 'rotate'), service.cli('secrets', 'rotate')]);
    expect(second).toEqual(first);
    expect(await keyIds()).toHaveLength(1);
  });

  it('keeps cursors and file URLs of earlier responses valid', async () => {
    await agentWith('own-key');
    await agentWith('own-key');
    const page = (cursor: string) =>
      service.http<{ nextCursor: string }>('GET', `/v1/threads?limit=1${cursor}`, { key: owner.key });
    const { nextCursor } = (await page('')).body;
    const { body: file } = await upload(service, owner.key, filePart('content'));
    await service.cli('secrets', 'rotate');
    expect((await page(`&cursor=${nextCursor}`)).status).toBe(200);
    expect(await (await fetch(file.url)).text()).toBe('content');
  });

  it('takes no arguments, and does not print the key', async () => {
    await expect(service.cli('secrets', 'rotate', 'now')).rejects.toThrow('usage: secrets rotate');
    const answer = JSON.stringify(await service.cli('secrets', 'rotate'));
    expect(answer).not.toMatch(/[A-Za-z0-9+/]{43}=/);
  });
});
