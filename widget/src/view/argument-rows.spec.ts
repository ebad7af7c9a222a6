import { describe, expect, it } from '@jest/globals';
import { argumentRows, inWords } from './argument-rows.js';
import { ENGLISH } from './strings.js';

/** Each row as one text; the depth as indentation. */
const drawn = (value: unknown): string[] =>
  [...argumentRows(value, ENGLISH)].map(
    ({ name, value: text, depth }) => `${'  '.repeat(depth)}${name ?? '-'}${text === null ? ':' : ` = ${text}`}`,
  );

describe('the rows of arguments', () => {
  it('have names and values in words', () => {
    expect(drawn({ customerId: 7, is_express: true, gift: false, note: ' ', coupon: null, tags: [] })).toEqual([
      'Customer id = 7',
      'Is express = Yes',
      'Gift = No',
      'Note = Empty',
      'Coupon = Empty',
      'Tags = Empty',
    ]);
  });

  it('show lists of values in one row, and lists of objects and objects in rows below', () => {
    expect(drawn({ tags: ['a', 2, true], items: [{ sku: 'X' }, 'Y'], to: { city: { name: 'Lisboa' } } })).toEqual([
      'Tags = a, 2, Yes',
      'Items:',
      '  Entry 1:',
      '    Sku = X',
      '  Entry 2 = Y',
      'To:',
      '  City:',
      '    Name = Lisboa',
    ]);
  });

  it('show a value that is no object, and a list', () => {
    expect(drawn('https://example.com')).toEqual(['- = https://example.com']);
    expect(drawn([{ a: 1 }])).toEqual(['Entry 1:', '  A = 1']);
    expect(drawn(undefined)).toEqual(['- = Empty']);
  });

  it('leave nothing out, of hostile input of any size', () => {
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`a${String(index)}`, index]));
    const deep: unknown = JSON.parse(`${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`);
    expect(drawn(wide)).toHaveLength(20_000);
    expect(drawn(deep)).toHaveLength(3000);
    expect(drawn(Array.from({ length: 5000 }, () => ({ a: 1 }))).at(-1)).toBe('  A = 1');
  });

  it('show characters that hide others', () => {
    expect(drawn({ 'to\u202e': 'a\u202eb', note: `a${'\n'.repeat(90)}b`, tags: ['\u0007'] })).toEqual([
      'To\\u202e = a\\u202eb',
      'Note = a\n\nb',
      'Tags = \u2407',
    ]);
  });
});

describe('the name of an argument', () => {
  it.each([
    ['customerId', 'Customer id'],
    ['order_number', 'Order number'],
    ['Full-Name', 'Full name'],
    ['userID', 'User ID'],
    ['parseHTTPResponse2', 'Parse HTTP response2'],
    ['größeÄndern', 'Größe ändern'],
    ['__', '__'],
    ['', ''],
  ])('%s is in words', (name, words) => {
    expect(inWords(name)).toBe(words);
  });

  it('is whole if it is too long to be one', () => {
    expect(inWords('A'.repeat(100_000))).toHaveLength(100_000);
  });
});
