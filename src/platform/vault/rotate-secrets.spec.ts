import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { SystemClock } from '../clock/index.js';
import type { Database } from '../database/index.js';
import { newId } from '../ids/index.js';
import { MasterKey } from './master-key.js';
import { MasterKeys } from './master-keys.js';
import { RotateSecrets, ROTATION_BATCH } from './rotate-secrets.js';
import { placeOf, type SecretRef } from './sealed-secret.js';
import { Vault } from './vault.js';
import { vaultSchema } from './vault.schema.js';

let open: TestDatabase;
let old: MasterKey;
let current: MasterKey;

beforeAll(async () => {
  open = await openTestDatabase([vaultSchema]);
});
beforeEach(async () => {
  await open.database.query('delete from secrets');
  old = new MasterKey(randomBytes(32));
  current = new MasterKey(randomBytes(32));
});
afterAll(() => open.close());

const vaultOf = (...keys: [MasterKey, ...MasterKey[]]): Vault =>
  new Vault(open.database, MasterKeys.of(...keys), new SystemClock());
const rotation = (database: Database = open.database, keys = MasterKeys.of(current, old)): RotateSecrets =>
  new RotateSecrets(database, keys);

/** Stores secrets with the key; the text of each is its place. */
async function stored(count: number, key = old): Promise<SecretRef[]> {
  const refs = Array.from({ length: count }, () => ({ organizationId: newId(), recordId: newId(), field: 'apiKey' }));
  const vault = vaultOf(key);
  await open.database.transaction(async (transaction) => {
    for (const ref of refs) await vault.put(transaction, ref, placeOf(ref));
  });
  return refs;
}

/** The same database, which calls a function just before statements that begin with the text. */
function before(start: string, happens: (time: number) => Promise<void>): Database {
  let time = 0;
  return Object.create(open.database, {
    query: {
      value: async (sql: string, parameters?: readonly unknown[]) => {
        if (sql.startsWith(start)) await happens((time += 1));
        return open.database.query(sql, parameters);
      },
    },
  }) as Database;
}

it('encrypts every secret with the current key and a new data key, and keeps the time when it was set', async () => {
  const refs = await stored(ROTATION_BATCH * 2 + 1);
  const rows = () =>
    open.database.query<{ wrapped: string; text: string; at: string }>(
      `select encode(wrapped_key, 'hex') as wrapped, encode(ciphertext, 'hex') as text, updated_at::text as at
       from secrets order by record_id`,
    );
  const earlier = await rows();
  expect(await rotation().execute()).toEqual({ rotated: refs.length, keyId: current.id, remaining: 0 });
  expect(await vaultOf(current).readMany(refs)).toEqual(refs.map(placeOf));
  await expect(vaultOf(old).readMany(refs)).rejects.toThrow(/encrypted with master key/);
  const later = await rows();
  expect(later.map(({ at }) => at)).toEqual(earlier.map(({ at }) => at));
  for (const [index, { wrapped, text }] of later.entries()) {
    expect(wrapped).not.toBe(earlier[index]?.wrapped);
    expect(text).not.toBe(earlier[index]?.text);
  }
});

it('changes nothing if it is repeated', async () => {
  const refs = await stored(3);
  await rotation().execute();
  const rows = () => open.database.query('select * from secrets order by record_id');
  const first = await rows();
  expect(await rotation().execute()).toMatchObject({ rotated: 0, remaining: 0 });
  expect(await rows()).toEqual(first);
  expect(await vaultOf(current).readMany(refs)).toEqual(refs.map(placeOf));
});

it.each([
  ['under the new key', () => current],
  ['under the old key, by a process that does not have the new one', () => old],
])('does not overwrite a secret that is written meanwhile (%s)', async (_by, key) => {
  const refs = await stored(3);
  const [changed] = refs as [SecretRef];
  const database = before('update secrets', async (time) => {
    if (time > 1) return;
    await open.database.transaction((transaction) => vaultOf(key()).put(transaction, changed, 'written meanwhile'));
  });
  const result = await rotation(database).execute();
  expect(result.remaining).toBe(0);
  expect(await vaultOf(current).readMany(refs)).toEqual(['written meanwhile', ...refs.slice(1).map(placeOf)]);
});

it('finds secrets that are written meanwhile, and does not restore removed ones', async () => {
  const refs = await stored(3);
  const [removed] = refs as [SecretRef];
  let late: SecretRef[] = [];
  const database = before('update secrets', async (time) => {
    if (time > 1) return;
    await open.database.transaction((transaction) => vaultOf(old).remove(transaction, [removed]));
    late = [{ ...removed, organizationId: '00000000-0000-7000-8000-000000000000' }];
    await open.database.transaction((transaction) => vaultOf(old).put(transaction, late[0]!, 'late'));
  });
  expect(await rotation(database).execute()).toEqual({ rotated: 3, keyId: current.id, remaining: 0 });
  expect(await vaultOf(current).readMany([removed, ...late])).toEqual([undefined, 'late']);
});

it('encrypts each secret once if two processes rotate', async () => {
  const refs = await stored(ROTATION_BATCH * 3);
  const results = await Promise.all([rotation().execute(), rotation().execute()]);
  expect(results.reduce((total, { rotated }) => total + rotated, 0)).toBe(refs.length);
  expect(results.map(({ remaining }) => remaining)).toEqual([0, 0]);
  expect(await vaultOf(current).readMany(refs)).toEqual(refs.map(placeOf));
});

it('runs once if it is called twice in one process', async () => {
  await stored(1);
  const once = rotation();
  const [first, second] = await Promise.all([once.execute(), once.execute()]);
  expect(second).toBe(first);
});

it('does not change unreadable secrets, and reports their places without their content', async () => {
  const strange = new MasterKey(randomBytes(32));
  const [foreign] = (await stored(1, strange)) as [SecretRef];
  const [tampered, fine] = (await stored(2)) as [SecretRef, SecretRef];
  await open.database.query(
    'update secrets set ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 1) where record_id = $1',
    [tampered.recordId],
  );
  const result = await rotation().execute();
  expect(result).toMatchObject({ rotated: 1, remaining: 2, hint: expect.stringContaining('SECRETS_KEY_FALLBACK') });
  expect([...(result.unreadable ?? [])].sort()).toEqual([placeOf(foreign), placeOf(tampered)].sort());
  expect(await vaultOf(current).read(fine)).toBe(placeOf(fine));
  expect(await vaultOf(strange).read(foreign)).toBe(placeOf(foreign));
});

it('reports what to set if there is only the current key', async () => {
  await stored(1, current);
  const only = rotation(open.database, MasterKeys.of(current));
  expect(await only.execute()).toEqual({
    rotated: 0,
    keyId: current.id,
    remaining: 0,
    hint: expect.stringContaining('SECRETS_KEY_FALLBACK'),
  });
});

it('stops between two batches with the process, with every secret readable, and continues at the next run', async () => {
  const refs = await stored(ROTATION_BATCH * 2);
  let stopped: Promise<void> | undefined;
  const interrupted: RotateSecrets = rotation(
    before('update secrets', () => {
      stopped ??= interrupted.stop();
      return Promise.resolve();
    }),
  );
  await expect(interrupted.execute()).rejects.toThrow('the service is stopping');
  await stopped;
  expect(await vaultOf(current, old).readMany(refs)).toEqual(refs.map(placeOf));
  expect(await rotation().execute()).toMatchObject({ rotated: ROTATION_BATCH, remaining: 0 });
});

it('finds that no key here decrypts any secret, and forgets those that none decrypts', async () => {
  await expect(rotation().requireRightKey()).resolves.toBeUndefined();
  const foreign = new MasterKey(randomBytes(32));
  await stored(3, foreign);
  await expect(rotation().requireRightKey()).rejects.toThrow(
    `SECRETS_KEY: the stored secrets are encrypted with another master key (${foreign.id}, not ${current.id}, ${old.id})`,
  );
  const [ours] = await stored(1, old);
  await expect(rotation().requireRightKey()).resolves.toBeUndefined();
  expect(await rotation().forget()).toEqual({ removed: 3 });
  expect(await vaultOf(old).readMany(ours ? [ours] : [])).toHaveLength(1);
});
