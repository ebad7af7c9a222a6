import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openTestDatabase } from '../../../test/support/test-database.js';
import type { Database } from '../../platform/database/index.js';
import { usedOnceMore, usefulnessOf } from '../domain/usefulness.js';

const MONTH = 30 * 86_400_000;
let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  const open = await openTestDatabase([]);
  database = open.database;
  close = () => open.close();
});
afterAll(() => close());

/** The usefulness of a memory that was saved in the first month and used in the later ones. */
async function usefulnessAfterUses(...months: readonly number[]): Promise<number> {
  const [first = 0, ...later] = months.map((month) => usefulnessOf(new Date(month * MONTH)));
  let usefulness = first;
  for (const once of later) {
    const [row] = await database.query<{ value: number }>(
      `select ${usedOnceMore('$1::float8', '$2::float8')} as value`,
      [usefulness, once],
    );
    usefulness = row?.value ?? Number.NaN;
  }
  return usefulness;
}

it('a use counts half after each half-life', async () => {
  expect(await usefulnessAfterUses(600, 600)).toBeCloseTo(await usefulnessAfterUses(601), 9);
  expect(await usefulnessAfterUses(600, 600, 600, 600)).toBeCloseTo(await usefulnessAfterUses(602), 9);
  expect(await usefulnessAfterUses(600, 601)).toBeGreaterThan(await usefulnessAfterUses(601));
  expect(await usefulnessAfterUses(600, 601)).toBeLessThan(await usefulnessAfterUses(601, 601));
});

it('the usefulness does not depend on the order of the uses, and is finite at any distance', async () => {
  expect(await usefulnessAfterUses(600, 605)).toBeCloseTo(await usefulnessAfterUses(605, 600), 9);
  expect(await usefulnessAfterUses(0, 5_000)).toBeCloseTo(5_000, 9);
});
