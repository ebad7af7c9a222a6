import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from '@jest/globals';

const MODULE = resolve('dist/platform/heap/index.js');

/** The sizes of the young generation after much was made that stays, twice, in a process of its own: the flag holds for the whole of one. */
function sizesAround(first: string, second: string): number[] {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8';
    const { keepYoungGenerationSmall } = await import(${JSON.stringify(MODULE)});
    const size = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
    const kept = [];
    const keepMuch = () => { for (let count = 0; count < 500_000; count += 1) kept.push({ count }); };
    ${first}
    keepMuch();
    const before = size();
    ${second}
    keepMuch();
    console.log(JSON.stringify([before, size()]));
  `;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }),
  ) as number[];
}

it('keeps the young generation small until it may grow', () => {
  const [before = NaN, after = NaN] = sizesAround('const grow = keepYoungGenerationSmall();', 'grow();');
  expect(before).toBeLessThanOrEqual(4 << 20);
  expect(after).toBeGreaterThan(8 << 20);
});

it('is needed: V8 lets the young generation grow with what stays', () => {
  const [before] = sizesAround('', '');
  expect(before).toBeGreaterThan(8 << 20);
});
