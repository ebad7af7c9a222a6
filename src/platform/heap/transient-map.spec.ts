import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import { TransientMap } from './transient-map.js';

const MODULE = resolve('dist/platform/heap/index.js');

/** By how many MiB the old generation has grown after 60,000 values of 800 bytes, of which 64 are there at a time. */
function oldMiB(map: string): number {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    const { TransientMap } = await import(${JSON.stringify(MODULE)});
    const size = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size;
    const map = ${map};
    // A table that is old.
    for (let number = 0; number < 64; number += 1) map.set('key-' + number, {});
    globalThis.gc();
    const before = size();
    for (let number = 0; number < 60_000; number += 1) {
      map.delete('key-' + number);
      map.set('key-' + (number + 64), { content: new Array(100).fill(number) });
    }
    console.log((size() - before) / 2 ** 20);
  `;
  // Without a collection of the whole heap under way.
  const args = [
    '--expose-gc',
    '--max-semi-space-size=1',
    '--initial-old-space-size=400',
    '--input-type=module',
    '-e',
    program,
  ];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

it('has the values that were set and not deleted, the oldest first', () => {
  const map = new TransientMap<number>();
  map.set('b', 1);
  map.set('a', 2);
  map.set('c', 3);
  map.set('a', 4);
  map.delete('b');
  map.delete('absent');

  expect(map.values()).toEqual([4, 3]);
  expect([map.size, map.get('a'), map.get('b')]).toEqual([2, 4, undefined]);
  expect(['a', 'b', 'constructor', '__proto__'].map((key) => map.has(key))).toEqual([true, false, false, false]);
});

it('takes any text as a key', () => {
  const map = new TransientMap<string>();
  for (const key of ['__proto__', 'constructor', '', '1']) map.set(key, key);
  expect(map.values().sort()).toEqual(['', '1', '__proto__', 'constructor']);
});

it('does not make its values old, as a Map does', () => {
  expect(oldMiB('new TransientMap()')).toBeLessThan(5);
  expect(oldMiB('new Map()')).toBeGreaterThan(40);
});
