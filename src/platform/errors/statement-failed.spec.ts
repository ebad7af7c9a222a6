import { describe, expect, it } from '@jest/globals';
import { withoutLiterals } from './statement-failed.js';

const MILLIONS = 9_000_000;
/** Around the length that is read. */
const FROM = 9_900;
const TO = 10_010;

describe('a statement without its literals', () => {
  it.each(["'", "E'", '$$', '$a$'])('is found for a literal of any length that begins with %s', (begin) => {
    expect(withoutLiterals(`select ${begin}${'x'.repeat(MILLIONS)}`)).toBe('select ?...');
  });

  it('is whole if it is short, and otherwise shows that it was cut', () => {
    expect(withoutLiterals(`select 'it''s', E'a\\'b', $$c$$, $1, 5`)).toBe('select ?, ?, ?, $1, ?');
    expect(withoutLiterals(`select ${'a, '.repeat(200)}`)).toMatch(/^.{500}\.\.\.$/);
    expect(withoutLiterals(`select 1${' '.repeat(TO)}, 2`)).toBe('select ?...');
  });

  it.each([
    `'secret''s secret'`,
    String.raw`E'secret\'s secret\\secret\'''secret\n'`,
    '$$secret $ secret$$',
    '$tag$secret $ta $tag secret$tag$',
    '47114711.47114711',
  ])('has nothing of %s, wherever the text is cut', (literal) => {
    for (let length = FROM; length <= TO; length += 1) {
      const text = withoutLiterals(
        `select ${literal},${' '.repeat(length - 'select ,'.length - literal.length)}${literal}, 1`,
      );
      expect([length, text]).toEqual([length, expect.not.stringMatching(/secret|4711/)]);
    }
  });
});
