import { expect, it } from '@jest/globals';
import { packVector, similarityTo } from './vector.js';

const VECTOR = [0.6, -0.8, 0, 0.001];

it('a vector packed into a byte per number is nearly as exact as the original', () => {
  const packed = packVector(VECTOR) ?? new Uint8Array();
  expect(packed).toHaveLength(4);
  expect(similarityTo(VECTOR, packed)).toBeCloseTo(1, 3);
  expect(similarityTo([0.8, 0.6, 0, 0], packed)).toBeCloseTo(0, 2);
  expect(similarityTo([1, 0, 0, 0], packed)).toBeCloseTo(0.6, 2);
  expect(similarityTo([-0.6, 0.8, 0, 0], packed)).toBe(0);
});

it('a packed vector is read at any offset of a larger buffer', () => {
  const packed = packVector(VECTOR) ?? new Uint8Array();
  const larger = new Uint8Array([9, ...packed, 9]);
  expect(similarityTo(VECTOR, larger.subarray(1, 5))).toBeCloseTo(1, 3);
});

it.each([
  ['no direction', [0, 0]],
  ['a NaN', [Number.NaN, 1]],
  ['an infinite number', [Infinity, 1]],
  ['no numbers', []],
])('a vector with %s cannot be packed', (_, vector) => {
  expect(packVector(vector)).toBeNull();
});

it('a vector of another size or without direction has no similarity', () => {
  const packed = packVector(VECTOR) ?? new Uint8Array();
  expect(similarityTo([1, 0], packed)).toBeNull();
  expect(similarityTo([0, 0, 0, 0], packed)).toBeNull();
});
