import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { SystemClock } from '../clock/index.js';
import { newId } from '../ids/index.js';
import { MasterKey } from './master-key.js';
import { MasterKeys } from './master-keys.js';
import { type SecretRef, SecretUnreadable } from './sealed-secret.js';
import { Vault } from './vault.js';
import { vaultSchema } from './vault.schema.js';

let open: TestDatabase;
let vault: Vault;

beforeAll(async () => {
  open = await openTestDatabase([vaultSchema]);
  vault = new Vault(open.database, MasterKeys.of(new MasterKey(randomBytes(32))), new SystemClock());
});

afterAll(async () => {
  await open.close();
});

function ref(changed: Partial<SecretRef> = {}): SecretRef {
  return { organizationId: newId(), recordId: newId(), field: 'provider.apiKey', ...changed };
}

async function put(place: SecretRef, secret: string): Promise<void> {
  await open.database.transaction((transaction) => vault.put(transaction, place, secret));
}

const AT = 'where organization_id = $1 and record_id = $2 and field = $3';

function key(place: SecretRef): string[] {
  return [place.organizationId, place.recordId, place.field];
}

async function failure(work: Promise<unknown>): Promise<Error> {
  return work.then(
    () => {
      throw new Error('It was read');
    },
    (error: unknown) => error as Error,
  );
}

function wholeText(error: unknown): string {
  return error instanceof Error ? `${error.message} ${error.stack ?? ''} ${wholeText(error.cause)}` : '';
}

describe('a stored secret', () => {
  it.each(['sk-canary-1', 'ключ 🔑', ' '.repeat(500)])('is read unchanged (%j)', async (secret) => {
    const place = ref();
    await put(place, secret);
    expect(await vault.read(place)).toBe(secret);
  });

  it('is replaced by a second put, with a new data key and nonce', async () => {
    const place = ref();
    const stored = async (): Promise<unknown> =>
      open.database.query(`select nonce, wrapped_key, ciphertext from secrets ${AT}`, key(place));
    await put(place, 'same');
    const first = await stored();
    await put(place, 'same');
    expect(await stored()).not.toEqual(first);
    expect(await vault.read(place)).toBe('same');
  });

  it('has nothing of the plaintext in any column', async () => {
    const place = ref();
    await put(place, 'sk-canary-at-rest');
    const [row] = await open.database.query<{ row: string }>(`select s::text as row from secrets s ${AT}`, key(place));
    expect(row?.row).not.toContain('sk-canary');
    expect(row?.row).not.toContain(Buffer.from('sk-canary').toString('hex'));
  });

  it('can be read with any spelling of its ids', async () => {
    const place = ref();
    await put(place, 'secret');
    const shouted = ref({
      organizationId: place.organizationId.toUpperCase(),
      recordId: place.recordId.toUpperCase(),
    });
    expect(await vault.read(shouted)).toBe('secret');
  });

  it('is not stored if the transaction is rolled back', async () => {
    const place = ref();
    const failed = open.database.transaction(async (transaction) => {
      await vault.put(transaction, place, 'secret');
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    await expect(vault.read(place)).rejects.toThrow(SecretUnreadable);
  });
});

describe('several secrets', () => {
  it('are read in the given order with one statement, missing ones as undefined', async () => {
    const [first, second] = [ref(), ref()];
    await put(first, 'one');
    await put(second, 'two');
    const before = open.database.statementCount;
    expect(await vault.readMany([second, ref(), first, second])).toEqual(['two', undefined, 'one', 'two']);
    expect(open.database.statementCount - before).toBe(1);
  });

  it('are removed singly or by record, without others', async () => {
    const place = ref();
    const sibling = { ...place, field: 'aiGateway.token' };
    const stranger = ref({ organizationId: place.organizationId });
    for (const each of [place, sibling, stranger]) await put(each, each.field);
    await open.database.transaction((transaction) => vault.remove(transaction, [place]));
    expect(await vault.readMany([place, sibling])).toEqual([undefined, 'aiGateway.token']);
    const { organizationId, recordId } = place;
    await open.database.transaction((transaction) => vault.removeRecord(transaction, organizationId, recordId));
    expect(await vault.readMany([sibling, stranger])).toEqual([undefined, 'provider.apiKey']);
  });
});

describe('a changed secret', () => {
  const FLIP = 'set_byte(%, 0, get_byte(%, 0) # 1)';
  const CUT = `substring(% from 1 for 8)`;
  const changes: [string, string][] = [
    ...['ciphertext', 'nonce', 'wrapped_key'].flatMap((column): [string, string][] => [
      [column, FLIP],
      [column, CUT],
      [column, `''::bytea`],
    ]),
    ['ciphertext', 'set_byte(%, length(%) - 1, get_byte(%, length(%) - 1) # 128)'],
    ['key_id', `'0000000000000000'`],
    ['organization_id', 'gen_random_uuid()'],
    ['record_id', 'gen_random_uuid()'],
    ['field', `'aiGateway.token'`],
  ];

  it.each(changes)('cannot be decrypted (%s = %s), and the error does not contain it', async (column, change) => {
    const place = ref();
    await put(place, 'sk-canary-tampered');
    const [moved] = await open.database.query<{ organization_id: string; record_id: string; field: string }>(
      `update secrets set ${column} = ${change.replaceAll('%', column)} ${AT}
       returning organization_id, record_id, field`,
      key(place),
    );
    if (!moved) throw new Error('Nothing was changed');
    const there = { organizationId: moved.organization_id, recordId: moved.record_id, field: moved.field };
    const error = await failure(vault.read(there));
    expect(error).toBeInstanceOf(SecretUnreadable);
    expect(wholeText(error)).not.toContain('sk-canary');
  });

  const others: [string, (place: SecretRef) => SecretRef][] = [
    ['record', ({ organizationId }) => ref({ organizationId })],
    ['field', (place) => ({ ...place, field: 'aiGateway.token' })],
    ['organization', ({ recordId }) => ref({ recordId })],
  ];

  it.each(others)('cannot be decrypted in the place of another %s', async (_name, other) => {
    const place = ref();
    const target = other(place);
    await put(place, 'mine');
    await put(target, 'theirs');
    await open.database.query(
      `update secrets t set ciphertext = s.ciphertext, nonce = s.nonce, wrapped_key = s.wrapped_key from secrets s
       where (t.organization_id, t.record_id, t.field) = ($1, $2, $3)
         and (s.organization_id, s.record_id, s.field) = ($4, $5, $6)`,
      [...key(target), ...key(place)],
    );
    await expect(vault.read(target)).rejects.toThrow(SecretUnreadable);
  });

  it('cannot be decrypted with the data key of another secret', async () => {
    const [place, other] = [ref(), ref()];
    await put(place, 'mine');
    await put(other, 'theirs');
    await open.database.query(
      `update secrets t set wrapped_key = s.wrapped_key from secrets s
       where t.record_id = $1 and s.record_id = $2`,
      [place.recordId, other.recordId],
    );
    await expect(vault.read(place)).rejects.toThrow(SecretUnreadable);
  });
});

describe('another master key', () => {
  it('decrypts nothing, even if the stored key id was changed to its own', async () => {
    const place = ref();
    await put(place, 'secret');
    const strange = new MasterKey(randomBytes(32));
    const theirs = new Vault(open.database, MasterKeys.of(strange), new SystemClock());
    await expect(theirs.read(place)).rejects.toThrow(/encrypted with master key/);
    await open.database.query('update secrets set key_id = $1 where record_id = $2', [strange.id, place.recordId]);
    await expect(theirs.read(place)).rejects.toThrow(SecretUnreadable);
  });

  it('that the process has too decrypts no secret whose key id was changed', async () => {
    const place = ref();
    const [old, current] = [new MasterKey(randomBytes(32)), new MasterKey(randomBytes(32))];
    const both = new Vault(open.database, MasterKeys.of(current, old), new SystemClock());
    await open.database.transaction((transaction) => both.put(transaction, place, 'secret'));
    expect(await both.read(place)).toBe('secret');
    await open.database.query('update secrets set key_id = $1 where record_id = $2', [old.id, place.recordId]);
    await expect(both.read(place)).rejects.toThrow(SecretUnreadable);
  });
});
