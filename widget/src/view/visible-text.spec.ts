import { describe, expect, it } from '@jest/globals';
import { visibleText, withoutBidiControls } from './visible-text.js';

describe('a text in which nothing hides', () => {
  it.each([
    ['a\u202eb\u2066c\u200f', 'a\\u202eb\\u2066c\\u200f'],
    ['a\u0000b\u001bc\u007fd\u0085', 'a\u2400b\u241bc\\u007fd\\u0085'],
    ['pay\u200bpal\u00ad\ufeff\u200d', 'pay\\u200bpal\\u00ad\\ufeff\\u200d'],
    ['\u3164\u2800\u2028\u{e0041}', '\\u3164\\u2800\\u2028\\u{e0041}'],
    ['👩‍💻 👩🏽‍💻 می‌خواهم क्‍ष', '👩‍💻 👩🏽‍💻 می‌خواهم क्‍ष'],
    ['a\tb\n    c\r\nd', 'a\tb\n    c\nd'],
    ['a\n\nb', 'a\n\nb'],
    [`a\n${' \u00a0\n'.repeat(50)}b`, 'a\n\nb'],
    [`a${' \t\u3000'.repeat(400)}b`, `a${' '.repeat(8)}b`],
  ])('%j is %j', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  it('is made in linear time', () => {
    const start = performance.now();
    for (const part of ['\n', ' ', '\n ', ' \n\n', '\u200d', 'a\n\n\n', '\u202e']) visibleText(part.repeat(300_000));
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

it('A text without bidi controls keeps the marks of a place', () => {
  expect(withoutBidiControls('a\u202ab\u202ec\u2066d\u2069e\u200e\u200f')).toBe('abcde\u200e\u200f');
});
