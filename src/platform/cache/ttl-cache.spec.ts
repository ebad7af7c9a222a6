import { expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { TtlCache } from './ttl-cache.js';

function setUp(maxEntries = 10) {
  const clock = new ManualClock();
  const cache = new TtlCache<string>({ clock, ttlMs: 5_000, maxEntries });
  const loads: string[] = [];
  const get = (key: string): Promise<unknown> =>
    cache.get(key, () => {
      loads.push(key);
      return Promise.resolve(`${key}${String(loads.length)}`);
    });
  return { clock, cache, get, loads };
}

it('serves from memory until the TTL ends, then loads again', async () => {
  const { clock, get, loads } = setUp();
  expect(await get('a')).toBe('a1');
  await clock.advance(4_999);
  expect(await get('a')).toBe('a1');
  await clock.advance(1);
  expect(await get('a')).toBe('a2');
  expect(loads).toEqual(['a', 'a']);
});

it.each([3_600_000, -3_600_000])('keeps its time when the wall clock is set by %i ms', async (ms) => {
  const { clock, get } = setUp();
  expect(await get('a')).toBe('a1');
  clock.jump(ms);
  expect(await get('a')).toBe('a1');
  await clock.advance(4_999);
  expect(await get('a')).toBe('a1');
  await clock.advance(1);
  expect(await get('a')).toBe('a2');
});

it('loads once for concurrent callers', async () => {
  const { get, loads } = setUp();
  expect(await Promise.all([get('a'), get('a'), get('a')])).toEqual(['a1', 'a1', 'a1']);
  expect(loads).toEqual(['a']);
});

it('evicts the least recently used entry', async () => {
  const { get, loads } = setUp(2);
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
  expect(loads).toEqual(['a', 'b', 'c', 'b']);
});

it('does not serve a value whose load began before the entry was deleted', async () => {
  const { cache } = setUp();
  let finish: (value: string) => void = () => undefined;
  const early = cache.get('a', () => new Promise((resolve) => (finish = resolve)));
  cache.delete('a');
  const late = cache.get('a', () => Promise.resolve('new'));
  finish('old');
  expect(await early).toBe('old');
  expect(await late).toBe('new');
  expect(await cache.get('a', () => Promise.resolve('unused'))).toBe('new');
});

it('keeps neither absence nor failures', async () => {
  const { cache } = setUp();
  expect(await cache.get('a', () => Promise.resolve(undefined))).toBeUndefined();
  await expect(cache.get('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down');
  expect(await cache.get('a', () => Promise.resolve('there'))).toBe('there');
});
