import { describe, expect, it } from '@jest/globals';
import { version } from 'uuid';
import { isUuid, newId } from './index.js';

describe('an id', () => {
  it('is a UUID of version 7', () => {
    const id = newId();
    expect(isUuid(id)).toBe(true);
    expect(version(id)).toBe(7);
  });

  it('begins with the time of its making, in milliseconds', () => {
    const before = Date.now();
    const made = Number.parseInt(newId().replaceAll('-', '').slice(0, 12), 16);
    expect(made).toBeGreaterThanOrEqual(before);
    expect(made).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('sorts after every earlier one, thousands within a millisecond included', () => {
    const ids = Array.from({ length: 20_000 }, () => newId());
    expect(ids).toEqual([...ids].sort());
    expect(new Set(ids).size).toBe(ids.length);
  });
});
