import { describe, expect, it } from '@jest/globals';
import { MAX_FOUND } from '../limits.js';
import { type Candidate, rank } from './ranking.js';

const candidate = (id: string, matched: readonly number[], meaning: number | null = null): Candidate => ({
  id,
  matched,
  meaning,
});

describe('the ranking of a search', () => {
  it('puts a rare word before a common one', () => {
    const common = Array.from({ length: 6 }, (_, n) => candidate(`c${n}`, [0]));
    expect(rank([...common, candidate('rare', [1])], 2)[0]).toBe('rare');
  });

  it('leaves out memories that share neither word nor meaning, and those that score far below the best', () => {
    expect(rank([candidate('none', []), candidate('all', [0, 1, 2]), candidate('one', [0])], 3)).toEqual(['all']);
    expect(rank([candidate('none', [])], 1)).toEqual([]);
    expect(rank([], 1)).toEqual([]);
  });

  it('uses meaning for memories with a vector and words for the others', () => {
    expect(rank([candidate('near', [], 0.9), candidate('far', [], 0.1), candidate('word', [0])], 1)).toEqual([
      'word',
      'near',
    ]);
  });

  it('puts the newer of two equal matches first, and returns at most the maximum of one answer', () => {
    const many = Array.from({ length: 2 * MAX_FOUND }, (_, n) => candidate(String(n).padStart(3, '0'), [0]));
    expect(rank(many, 1)).toEqual(
      many
        .slice(-MAX_FOUND)
        .reverse()
        .map(({ id }) => id),
    );
  });
});
