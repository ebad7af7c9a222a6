import { describe, expect, it } from '@jest/globals';
import type { PreparedChunk } from '../application/indexing/prepared-document.js';
import { type ChunkRow, planWrites, NEVER_DROPPED } from './write-plan.js';

const stored = (digest: string, position: number, changes: Partial<ChunkRow> = {}): ChunkRow => {
  return {
    id: `${digest}${position}`,
    digest,
    position,
    anchor: null,
    page: null,
    validFrom: 1,
    validUntil: NEVER_DROPPED,
    isPlaced: true,
    ...changes,
  };
};
const wanted = (...digests: string[]): PreparedChunk[] =>
  digests.map((digest, position) => ({ digest, position, heading: null, anchor: null, page: null, text: digest }));

describe('planWrites', () => {
  it('writes nothing for an unchanged document', () => {
    expect(planWrites([stored('a', 0), stored('b', 1)], wanted('a', 'b'), 1)).toEqual({
      inserted: [],
      changed: [],
      dropped: [],
      abandoned: [],
    });
  });

  it('moves kept chunks, inserts new ones and drops missing ones', () => {
    const plan = planWrites([stored('a', 0), stored('b', 1)], wanted('new', 'a'), 1);
    expect(plan).toMatchObject({
      inserted: [{ digest: 'new' }],
      changed: [{ id: 'a0', position: 1 }],
      dropped: ['b1'],
      abandoned: [],
    });
  });

  it('keeps as many equal chunks as are wanted', () => {
    const plan = planWrites([stored('a', 0), stored('a', 1)], wanted('a', 'a', 'a'), 1);
    expect(plan).toMatchObject({ inserted: [{ position: 2 }], dropped: [], abandoned: [] });
  });

  it('uses chunks that an interrupted write left, and deletes the others', () => {
    const plan = planWrites(
      [stored('a', 0), stored('b', 1, { validFrom: 2 }), stored('c', 2, { validFrom: 2 })],
      wanted('a', 'b'),
      1,
    );
    expect(plan).toMatchObject({ inserted: [], changed: [], dropped: [], abandoned: ['c2'] });
  });

  it('deletes chunks of earlier revisions, and does not use them for the new text', () => {
    expect(planWrites([stored('a', 0, { validUntil: 2 })], wanted('a'), 2)).toMatchObject({
      inserted: [{ digest: 'a' }],
      abandoned: ['a0'],
    });
  });
});
