import { resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import { oldGenerationGrowth } from '../../../test/support/old-generation.js';
import { TransientMap } from './transient-map.js';

const MODULE = resolve('dist/platform/heap/index.js');

/** After 60,000 values of 800 bytes, of which 64 are there at a time. */
function oldMiB(map: string): number {
  return oldGenerationGrowth(
    `const { TransientMap } = await import(${JSON.stringify(MODULE)});
    const map = ${map};
    for (let number = 0; number < 64; number += 1) map.set('key-' + number, {});`,
    `for (let number = 0; number < 60_000; number += 1) {
      map.delete('key-' + number);
      map.set('key-' + (number + 64), { content: new Array(100).fill(number) });
    }`,
  );
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
