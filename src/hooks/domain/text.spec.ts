import { describe, expect, it } from '@jest/globals';
import { computingUnits } from '../../../test/support/computing-time.js';
import { cutTo, isLongerThan, piecesOf } from './text.js';

const ASTRAL = '\u{1f600}';

describe('isLongerThan', () => {
  it.each([
    ['', 0, false],
    ['a', 0, true],
    ['abc', 3, false],
    ['abcd', 3, true],
    [ASTRAL.repeat(3), 3, false],
    [ASTRAL.repeat(4), 3, true],
    [`${ASTRAL}ab`, 3, false],
    [`${ASTRAL}abc`, 3, true],
    ['abcdefg', 3, true],
  ])('counts code points: %s against %d', (text, max, expected) => {
    expect(isLongerThan(text, max)).toBe(expected);
  });
});

describe('cutTo', () => {
  it.each([
    ['', 3, ''],
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    [ASTRAL.repeat(3), 3, ASTRAL.repeat(3)],
    [ASTRAL.repeat(9), 3, ASTRAL.repeat(3)],
    [`ab${ASTRAL}${ASTRAL}`, 3, `ab${ASTRAL}`],
    [`abc${ASTRAL}`, 3, 'abc'],
  ])('keeps the beginning and never splits a character: %s to %d', (text, max, expected) => {
    expect(cutTo(text, max)).toBe(expected);
  });

  it('takes a time that does not depend on the length of the rest', () => {
    const text = ASTRAL.repeat(5_000_000);
    expect(cutTo(text, 10_000)).toHaveLength(20_000);
    expect(computingUnits(() => cutTo(text, 10_000))).toBeLessThan(0.5);
  });
});

describe('piecesOf', () => {
  it.each<[string, number, readonly string[]]>([
    ['', 3, ['']],
    ['abc', 3, ['abc']],
    ['abcd', 3, ['abc', 'd']],
    ['abcdef', 3, ['abc', 'def']],
    [`ab${ASTRAL}c`, 3, ['ab', `${ASTRAL}c`]],
    [ASTRAL.repeat(3), 3, [ASTRAL, ASTRAL, ASTRAL]],
  ])('never splits a character: %s by %d', (text, max, expected) => {
    expect(piecesOf(text, max)).toEqual(expected);
  });
});
