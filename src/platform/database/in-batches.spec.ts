import { expect, it } from '@jest/globals';
import { inBatches } from './in-batches.js';

const KIB = 1024;
const batches = (...sizes: number[]): number[][] =>
  [...inBatches(sizes, (size) => size * KIB)].map((batch) => [...batch]);

it('keeps the order and fills each batch', () => {
  expect(batches(200, 200, 200, 100, 50, 500)).toEqual([[200, 200], [200, 100, 50], [500]]);
});

it('puts an item that is larger than a batch into its own', () => {
  expect(batches(1, 2_000, 3_000, 1)).toEqual([[1], [2_000], [3_000], [1]]);
});

it('makes no empty batch', () => {
  expect(batches()).toEqual([]);
  expect(batches(0, 0)).toEqual([[0, 0]]);
});

it('fills batches up to the given size', () => {
  expect([...inBatches([4, 4, 4, 9, 1], (size) => size, 8)]).toEqual([[4, 4], [4], [9], [1]]);
});
