import { describe, expect, it } from '@jest/globals';
import { COMPARED_TERMS } from '../limits.js';
import { commonTerms, estimatedShare, fromBytes, packTerms, positionsFound, toBytes } from './packed-terms.js';

const words = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, n) => `word${from + n}`);

describe('packed terms', () => {
  it('contain each term once and do not depend on the order of the words', () => {
    expect(packTerms(['b', 'a', 'b'])).toEqual(packTerms(['a', 'b']));
    expect(packTerms([])).toHaveLength(0);
  });

  it('are read from bytes at any offset of a buffer', () => {
    const terms = packTerms(words(0, 100));
    const row = [1, ...toBytes(terms), 2];
    expect(fromBytes(new Uint8Array(row).subarray(1, 401))).toEqual(terms);
    expect(fromBytes(Buffer.from(row).subarray(1, 401))).toEqual(terms);
  });

  it('count the terms that two texts have in common', () => {
    expect(commonTerms(packTerms(words(0, 1_000)), packTerms(words(900, 2_000)))).toBe(100);
    expect(commonTerms(packTerms([]), packTerms(['a']))).toBe(0);
  });

  it('give the positions of the query terms that a text has', () => {
    const query = packTerms(['tea', 'milk', 'rum']);
    const found = positionsFound(packTerms(['milk', 'tea', 'sugar']), query);
    expect(new Set(found.map((position) => query[position]))).toEqual(new Set([...packTerms(['tea', 'milk'])]));
    expect(positionsFound(packTerms([]), query)).toEqual([]);
  });
});

describe('the share that two texts have in common', () => {
  it('is exact for short ones', () => {
    expect(estimatedShare(packTerms(words(0, 30)), packTerms(words(10, 40)))).toBe(0.5);
    expect(estimatedShare(packTerms([]), packTerms([]))).toBe(0);
  });

  it.each([
    [0, 2_000, 0, 2_000, 1],
    [0, 2_000, 200, 2_200, 0.82],
    [0, 2_000, 1_000, 3_000, 0.33],
    [0, 2_000, 2_000, 4_000, 0],
  ])(
    'is estimated from the smallest digests of long ones: %d to %d and %d to %d share about %d of all',
    (from, to, otherFrom, otherTo, share) => {
      const [left, right] = [packTerms(words(from, to)), packTerms(words(otherFrom, otherTo))];
      const estimate = estimatedShare(left.slice(0, COMPARED_TERMS), right.slice(0, COMPARED_TERMS));
      expect(estimate).toBe(estimatedShare(left, right));
      expect(Math.abs(estimate - share)).toBeLessThan(0.15);
    },
  );
});
