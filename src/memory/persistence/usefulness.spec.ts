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

/** Of a memory that was used at these months, the first of them when it was saved. */
async function usedAt(...months: readonly number[]): Promise<number> {
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

it('counts a use half for each half-life that has passed since', async () => {
  expect(await usedAt(600, 600)).toBeCloseTo(await usedAt(601), 9);
  expect(await usedAt(600, 600, 600, 600)).toBeCloseTo(await usedAt(602), 9);
  expect(await usedAt(600, 601)).toBeGreaterThan(await usedAt(601));
  expect(await usedAt(600, 601)).toBeLessThan(await usedAt(601, 601));
});

it('is the sum of the uses in whichever order they come, and finite at any distance', async () => {
  expect(await usedAt(600, 605)).toBeCloseTo(await usedAt(605, 600), 9);
  expect(await usedAt(0, 5_000)).toBeCloseTo(5_000, 9);
});
