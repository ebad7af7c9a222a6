import { describe, expect, it } from '@jest/globals';
import { isSame } from './attributes.js';

describe('isSame', () => {
  it.each<[unknown, unknown]>([
    [
      { mode: 'session', credentials: () => 1 },
      { credentials: () => 2, mode: 'session' },
    ],
    [{ a: { b: [1, 'x', null] } }, { a: { b: [1, 'x', null] } }],
    [undefined, undefined],
    [NaN, NaN],
  ])('is true of %j and %j', (one, other) => {
    expect(isSame(one, other)).toBe(true);
  });

  it.each<[unknown, unknown]>([
    [{ credentials: () => 1 }, { credentials: '/session' }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: undefined }, { b: undefined }],
    [{ a: { b: 1 } }, { a: { b: 2 } }],
    [{ a: 1 }, undefined],
    [{}, null],
  ])('is false of %j and %j', (one, other) => {
    expect(isSame(one, other)).toBe(false);
    expect(isSame(other, one)).toBe(false);
  });
});
