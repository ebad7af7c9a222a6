import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import type { ApiKeyRepository } from '../persistence/api-key.repository.js';
import type { StoredCredential } from '../persistence/credentials.sql.js';
import { BatchedKeyLookup } from './batched-key-lookup.js';

let digests = 0;
/** A digest that no other test has. */
function invented(): Buffer {
  digests += 1;
  const digest = Buffer.alloc(32);
  digest.writeUInt32BE(digests);
  return digest;
}

const GOOD = Buffer.alloc(32, 1);
const credential = { keyId: 'good' } as StoredCredential;

/** A lookup on a database that has only the valid key. */
function start(fails?: Error) {
  const clock = new ManualClock();
  const statements: (readonly Buffer[])[] = [];
  const findCredentials: ApiKeyRepository['findCredentials'] = async (asked) => {
    statements.push(asked);
    await Promise.resolve();
    if (fails) throw fails;
    return new Map(asked.filter((digest) => digest.equals(GOOD)).map((digest) => [digest.toString('hex'), credential]));
  };
  const lookup = new BatchedKeyLookup(clock, { findCredentials } as ApiKeyRepository);
  return { clock, statements, lookup };
}

describe('the lookup of unknown keys', () => {
  it('costs at most 60 statements in any minute during 1,000 invented keys a second, and finds a valid key within seconds', async () => {
    const { clock, statements, lookup } = start();
    const at: number[] = [];
    const waits: number[] = [];
    for (let second = 0; second < 70; second += 1) {
      for (let key = 0; key < 1_000; key += 1) void lookup.find(invented());
      const asked = clock.monotonic();
      void lookup.find(GOOD).then((found) => {
        expect(found).toBe(credential);
        waits.push(clock.monotonic() - asked);
      });
      await clock.advance(1_000);
      while (at.length < statements.length) at.push(clock.monotonic());
    }
    for (const end of at)
      expect(at.filter((time) => time > end - 60_000 && time <= end).length).toBeLessThanOrEqual(60);
    expect(waits.length).toBeGreaterThan(65);
    expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
    await clock.advance(10_000);
  });

  it('costs one statement for concurrent requests with a key, and does not delay many valid keys', async () => {
    const { statements, lookup } = start();
    const found = await Promise.all(Array.from({ length: 100 }, () => lookup.find(GOOD)));
    expect(new Set(found)).toEqual(new Set([credential]));
    expect(statements.length).toBeLessThanOrEqual(2);
    for (let times = 0; times < 100; times += 1) expect(await lookup.find(GOOD)).toBe(credential);
  });

  it('fails all requests that wait when the database does not answer', async () => {
    const failure = new Error('away');
    const { lookup } = start(failure);
    const results = await Promise.allSettled([lookup.find(GOOD), lookup.find(invented()), lookup.find(invented())]);
    expect(results).toEqual(Array.from({ length: 3 }, () => ({ status: 'rejected', reason: failure })));
  });

  it('refuses keys when too many wait', async () => {
    const { clock, lookup, statements } = start();
    const all = Array.from({ length: 51_000 }, () =>
      lookup.find(invented()).then(
        () => 'answered',
        () => 'refused',
      ),
    );
    await clock.advance(60_000);
    const results = await Promise.all(all);
    expect(results.filter((result) => result === 'refused').length).toBeGreaterThan(900);
    expect(Math.max(...statements.map(({ length }) => length))).toBeLessThanOrEqual(10_000);
  });
});
