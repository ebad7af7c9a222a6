import { describe, expect, it } from '@jest/globals';
import { bareUserKey, isKeyedUser, keyedUser, MAX_USER_ID } from './user-key.js';

const key = Buffer.alloc(32, 1);
const bareOf = (id: string | number): string => bareUserKey(id) ?? '';

describe('the key of a user', () => {
  it('is the same for the same user and organization, and differs for any other', () => {
    expect(keyedUser(key, bareOf('ann'))).toBe(keyedUser(key, bareOf('ann')));
    expect(keyedUser(key, bareOf(17))).toBe(keyedUser(key, bareOf('17')));
    const others = [keyedUser(key, bareOf('bob')), keyedUser(Buffer.alloc(32, 2), bareOf('ann')), bareOf('ann')];
    expect(others).not.toContain(keyedUser(key, bareOf('ann')));
  });

  it('shows that it is keyed, and is a UUID', () => {
    const keyed = keyedUser(key, bareOf('ann'));
    expect(keyed).toMatch(/^75736572-6b[0-9a-f]{2}-([0-9a-f]{4}-){2}[0-9a-f]{12}$/);
    expect(isKeyedUser(keyed)).toBe(true);
    expect(isKeyedUser(bareOf('ann'))).toBe(false);
  });

  it.each([
    ['an empty id', ''],
    ['an id that is too long', 'a'.repeat(MAX_USER_ID + 1)],
    ['half a character', 'a\ud800'],
    ['none', undefined],
  ])('is none for %s', (_, id) => {
    expect(bareUserKey(id)).toBeNull();
  });
});
