import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from './retry-after.js';

describe('Retry-After', () => {
  const now = new Date('2026-11-23T10:00:00.000Z');
  const year = 366 * 86_400_000;

  it.each<[string | undefined, number | null]>([
    ['120', 120_000],
    [' 0 ', 0],
    ['1.5', 1_500],
    ['999999999999', year],
    ['9'.repeat(400), year],
    ['Mon, 23 Nov 2026 10:05:00 GMT', 300_000],
    ['Monday, 23-Nov-26 10:05:00 GMT', 300_000],
    ['Mon Nov 23 10:05:00 2026', 300_000],
    ['Mon, 23 Nov 2026 09:00:00 GMT', 0],
    ['Mon, 23 Nov 2099 10:00:00 GMT', year],
    ['-5', null],
    ['1e3', null],
    ['soon', null],
    ['Mon, 99 Nov 2026 10:05:00 GMT', null],
    ['', null],
    [undefined, null],
  ])('%s', (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected);
  });
});
