import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import { AttachedValue } from './attached-value.js';

const MODULE = resolve('dist/platform/heap/index.js');

/** By how many MiB the old generation has grown after many short-lived objects with a value that refers to them. */
function oldMiB(values: string): number {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    const { AttachedValue } = await import(${JSON.stringify(MODULE)});
    const size = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size;
    const values = ${values};
    const before = size();
    for (let number = 0; number < 100_000; number += 1) {
      const holder = { content: new Array(20).fill(number) };
      values.set(holder, { holder });
    }
    console.log((size() - before) / 2 ** 20);
  `;
  // Without a collection of the whole heap under way.
  const args = ['--max-semi-space-size=1', '--initial-old-space-size=400', '--input-type=module', '-e', program];
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

it('has a value for each holder', () => {
  const names = new AttachedValue<object, string>();
  const ages = new AttachedValue<object, number>();
  const [one, other] = [{}, {}];
  names.set(one, 'one');
  ages.set(one, 1);
  names.set(other, 'other');

  expect([names.get(one), ages.get(one), names.get(other), ages.get(other)]).toEqual(['one', 1, 'other', undefined]);
  expect(JSON.stringify(one)).toBe('{}');
});

it('does not make its holders old, as a WeakMap does', () => {
  expect(oldMiB('new AttachedValue()')).toBeLessThan(1);
  expect(oldMiB('new WeakMap()')).toBeGreaterThan(5);
});
