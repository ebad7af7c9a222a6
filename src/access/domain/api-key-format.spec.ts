import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { API_KEY_BYTES, digestApiKey, formatApiKey, isWellFormedApiKey, lastFour } from './api-key-format.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bytes = fc.uint8Array({ minLength: API_KEY_BYTES, maxLength: API_KEY_BYTES });

describe('an API key', () => {
  it('is ak_ and 49 base62 characters, whatever its bytes', () => {
    fc.assert(
      fc.property(bytes, (random) => {
        const key = formatApiKey(random);
        expect(key).toMatch(/^ak_[0-9A-Za-z]{49}$/);
        expect(isWellFormedApiKey(key)).toBe(true);
      }),
    );
  });

  it('keeps its format at both ends of the range', () => {
    for (const value of [0, 255]) expect(isWellFormedApiKey(formatApiKey(new Uint8Array(32).fill(value)))).toBe(true);
  });

  it('differs where the bytes differ, and so does its digest', () => {
    fc.assert(
      fc.property(bytes, bytes, (left, right) => {
        const same = Buffer.from(left).equals(Buffer.from(right));
        expect(formatApiKey(left) === formatApiKey(right)).toBe(same);
        expect(digestApiKey(formatApiKey(left)).equals(digestApiKey(formatApiKey(right)))).toBe(same);
      }),
    );
  });

  it('is refused with any one character changed', () => {
    fc.assert(
      fc.property(bytes, fc.nat(48), fc.nat(60), (random, position, step) => {
        const key = formatApiKey(random);
        const at = position + 3;
        const other = BASE62.charAt((BASE62.indexOf(key.charAt(at)) + 1 + step) % 62);
        expect(isWellFormedApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
      }),
    );
  });

  it('is refused when it is cut, extended, or has another prefix', () => {
    const key = formatApiKey(new Uint8Array(32).fill(7));
    for (const wrong of [
      key.slice(0, -1),
      `${key}0`,
      ` ${key}`,
      `${key}\n`,
      key.replace('ak_', 'sk_'),
      key.slice(3),
      '',
    ]) {
      expect(isWellFormedApiKey(wrong)).toBe(false);
    }
  });

  it('shows its last four characters', () => {
    expect(lastFour('ak_abcdefgh')).toBe('efgh');
  });

  it('requires exactly 32 bytes', () => {
    expect(() => formatApiKey(new Uint8Array(31))).toThrow(RangeError);
  });
});
