import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { typingErrors } from './keyword-distance.js';

/** The definition, which is fast enough for short words. */
function errorsOf(left: string, right: string): number {
  if (left === '' || right === '') return left.length + right.length;
  const [last, lastOther] = [left.at(-1), right.at(-1)];
  const errors = [
    errorsOf(left.slice(0, -1), right) + 1,
    errorsOf(left, right.slice(0, -1)) + 1,
    errorsOf(left.slice(0, -1), right.slice(0, -1)) + (last === lastOther ? 0 : 1),
  ];
  if (left.length > 1 && right.length > 1 && last === right.at(-2) && left.at(-2) === lastOther)
    errors.push(errorsOf(left.slice(0, -2), right.slice(0, -2)) + 1);
  return Math.min(...errors);
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });

it('counts the same errors as the definition, up to the maximum', () => {
  fc.assert(
    fc.property(word, word, fc.nat({ max: 6 }), (left, right, max) => {
      expect(typingErrors(left, right, max)).toBe(Math.min(errorsOf(left, right), max + 1));
    }),
  );
});

it('counts errors of long words', () => {
  const long = 'internationalization'.repeat(3);
  expect(typingErrors(long, `${long.slice(0, 30)}xyz${long.slice(30)}`, 5)).toBe(3);
  expect(typingErrors(`ab${long}`, `ba${long.slice(0, -1)}`, 2)).toBe(2);
  expect(typingErrors(long, `x${long.slice(0, -6)}abcde`, 5)).toBe(6);
});
