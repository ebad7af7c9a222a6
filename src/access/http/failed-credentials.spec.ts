import { describe, expect, it } from '@jest/globals';
import { subscriberOf } from './failed-credentials.js';

describe('the address that failed credentials are counted for', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2::'],
    ['2001:db8:1:3::1', '2001:db8:1:3::'],
    ['fe80::1%eth0', 'fe80::'],
    ['', ''],
  ])('of %s is %s', (address, counted) => {
    expect(subscriberOf(address)).toBe(counted);
  });
});
