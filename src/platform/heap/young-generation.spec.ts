import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from '@jest/globals';

const MODULE = resolve('dist/platform/heap/index.js');
const MIB = 1 << 20;

/** The sizes of the young generation after steps of a program, in a process of its own: the flag holds for the whole of one. */
function sizesAfter(...steps: readonly string[]): number[] {
  const program = `
    import { setImmediate } from 'node:timers/promises';
    import { getHeapSpaceStatistics } from 'node:v8';
    const { keepYoungGenerationSmall } = await import(${JSON.stringify(MODULE)});
    const size = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
    let kept = [];
    const keepMuch = () => { for (let count = 0; count < 500_000; count += 1) kept.push({ count }); };
    const serve = async () => {
      for (let turn = 0; turn < 1_000; turn += 1) {
        if (turn % 100 === 0) kept = [];
        for (let count = 0; count < 10_000; count += 1) kept.push({ count });
        await setImmediate();
      }
    };
    const sizes = [];
    for (const step of [${steps.map((step) => `async () => { ${step} }`).join(', ')}]) {
      await step();
      sizes.push(size());
    }
    console.log(JSON.stringify(sizes));
  `;
  const args = [
    // V8's limit on machines with much memory.
    '--max-semi-space-size=64',
    // The sizes vary while V8 marks the whole heap.
    '--no-incremental-marking',
    '--input-type=module',
  ];
  return JSON.parse(execFileSync(process.execPath, [...args, '-e', program], { encoding: 'utf8' })) as number[];
}

it('keeps the young generation small until it may grow, and limits it then', () => {
  const [loaded, grown = NaN, served] = sizesAfter(
    'globalThis.grow = keepYoungGenerationSmall(); keepMuch();',
    'grow(); keepMuch();',
    'await serve();',
  );
  expect(loaded).toBeLessThanOrEqual(4 * MIB);
  expect(grown).toBeGreaterThan(8 * MIB);
  expect(served).toBe(64 * MIB);
});

it('is needed: V8 lets the young generation grow with what stays, and beyond the limit', () => {
  const [loaded, served] = sizesAfter('keepMuch();', 'await serve();');
  expect(loaded).toBeGreaterThan(8 * MIB);
  expect(served).toBeGreaterThan(64 * MIB);
});
