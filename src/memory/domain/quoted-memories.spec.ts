import { expect, it } from '@jest/globals';
import { newId } from '../../platform/ids/index.js';
import { ageOf, recalledSummary } from './quoted-memories.js';

const NOW = new Date('2026-11-10T12:00:00.000Z');

it.each([
  ['2026-11-10T00:00:00.000Z', 'saved today, 2026-11-10'],
  ['2026-11-09T23:59:59.999Z', 'saved yesterday, 2026-11-09'],
  ['2026-11-08T23:59:59.999Z', 'saved 2 days ago, 2026-11-08'],
  ['2025-11-10T12:00:00.000Z', 'saved 365 days ago, 2025-11-10'],
  // The clock may have been set back after the save.
  ['2026-11-11T12:00:00.000Z', 'saved today, 2026-11-11'],
])('a memory of %s is "%s"', (at, age) => {
  expect(ageOf(new Date(at), NOW)).toBe(age);
});

it('memories give the same text whichever of them is the most useful', () => {
  const memories = ['Rides to work.', 'Is called Ann.'].map((text) => {
    const at = new Date('2026-11-09T12:00:00.000Z');
    return { id: newId(), text, createdAt: at, updatedAt: at };
  });
  expect(recalledSummary(memories.toReversed(), 2, NOW)).toEqual(recalledSummary(memories, 2, NOW));
});
