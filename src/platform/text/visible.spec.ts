import { expect, it } from '@jest/globals';
import { isBlank, visibleText } from './visible.js';

it.each(['', ' \n\t', '\u200b\u200b', '\u3164', '\u2800', '\u0000', '\u202e', '\ufe0f', '\u{e0041}'])(
  '%j shows nothing',
  (text) => {
    expect(isBlank(text)).toBe(true);
  },
);

it.each(['a', '.', 'é', '名', '👍', '\u200b1', '👨‍👩‍👧'])('%j is visible', (text) => {
  expect(isBlank(text)).toBe(false);
});

it('is the same for texts that look the same', () => {
  expect(visibleText('Yes\u200b')).toBe('Yes');
  expect(visibleText(' Not  \u00a0now ')).toBe('Not now');
  expect(visibleText('e\u0301')).toBe('\u00e9');
  expect(visibleText('No')).not.toBe(visibleText('Not'));
});
