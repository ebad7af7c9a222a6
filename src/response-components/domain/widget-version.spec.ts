import { describe, expect, it } from '@jest/globals';
import { isAtLeast, type Release } from './widget-version.js';

const RELEASE: Release = [0, 5, 0];

describe('a widget', () => {
  it.each(['0.5.0', '0.5.1', '0.10.0', '1.0.0', '0.5.0+build.7', '0.5.1-beta.1', '1.0.0-alpha', '999999999999999.0.0'])(
    'of %s is at least 0.5.0',
    (version) => {
      expect(isAtLeast(version, RELEASE)).toBe(true);
    },
  );

  it.each(['0.4.9', '0.4.99', '0.0.0', '0.5.0-beta.1', '0.5.0-0', '0.5.0-rc.1+build.7'])(
    'of %s is older',
    (version) => {
      expect(isAtLeast(version, RELEASE)).toBe(false);
    },
  );

  it.each([
    '',
    'latest',
    '1',
    '1.0',
    '1.0.0.0',
    'v1.0.0',
    ' 1.0.0',
    '1.0.0\n',
    '01.0.0',
    '1.0.0-',
    '1.0.0-01',
    '1.0.0-a..b',
    '1.0.0+',
    '-1.0.0',
    '1e3.0.0',
    '١.0.0',
    '9'.repeat(40) + '.0.0',
  ])('of %j, which is no version, is older than every release', (version) => {
    expect(isAtLeast(version, [0, 0, 0])).toBe(false);
  });

  it('compares major before minor before patch, as numbers', () => {
    expect(isAtLeast('1.0.0', [0, 9, 9])).toBe(true);
    expect(isAtLeast('0.9.9', [1, 0, 0])).toBe(false);
    expect(isAtLeast('2.10.3', [2, 9, 4])).toBe(true);
    expect(isAtLeast('2.9.3', [2, 9, 4])).toBe(false);
  });
});
