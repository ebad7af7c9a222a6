import { resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import { oldGenerationGrowth } from '../../../test/support/old-generation.js';
import { AttachedValue } from './attached-value.js';

const MODULE = resolve('dist/platform/heap/index.js');

/** After many short-lived objects with a value that refers to them. */
function oldMiB(values: string): number {
  return oldGenerationGrowth(
    `const { AttachedValue } = await import(${JSON.stringify(MODULE)});
    const values = ${values};`,
    `for (let number = 0; number < 100_000; number += 1) {
      const holder = { content: new Array(20).fill(number) };
      values.set(holder, { holder });
    }`,
  );
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
