import { describe, expect, it } from '@jest/globals';
import { version } from 'uuid';
import { derivedId, isUuid, momentOf, newId, withIds } from './index.js';

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

describe('chosen ids', () => {
  it('are given out in their order within the work alone, null standing for any', async () => {
    const [first, last] = [newId(), newId()];
    const made = await withIds([first, null, last], async () => {
      const before = newId();
      await Promise.resolve();
      return [before, newId(), newId(), newId()];
    });
    expect([made[0], made[2]]).toEqual([first, last]);
    expect(new Set([...made, newId()]).size).toBe(5);
  });
});

describe('a derived id', () => {
  const at = new Date('2026-11-01T00:00:00.000Z');

  it('is the same for the same moment and names, and another for others', () => {
    const id = derivedId(at, ['a', 'b']);
    expect(derivedId(at, ['a', 'b'])).toBe(id);
    const others = [
      derivedId(at, ['ab']),
      derivedId(at, ['b', 'a']),
      derivedId(new Date(at.getTime() + 1), ['a', 'b']),
    ];
    expect(new Set([id, ...others]).size).toBe(4);
  });

  it('is a UUID of version 7 that begins with the moment', () => {
    const id = derivedId(at, ['a']);
    expect([isUuid(id), version(id), momentOf(id)]).toEqual([true, 7, at]);
  });
});
