import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { digestsIn, LargeTexts, withTexts } from './large-texts.js';

const LONG = 'long text '.repeat(1_000);

function roundTrip(value: unknown): unknown {
  const texts = new LargeTexts();
  const stored = JSON.parse(JSON.stringify(texts.extractFrom(value))) as unknown;
  return withTexts(stored, new Map(texts.all.map(({ digest, content }) => [digest, content])));
}

it('extracts a text once, however often it occurs, and counts the bytes of every occurrence', () => {
  const texts = new LargeTexts();
  const taken = texts.extractFrom([{ before: LONG, after: { content: LONG, name: 'Tone' } }, 'short', 7, null]);
  expect(texts.all).toEqual([{ digest: expect.any(String), content: LONG }]);
  expect(texts.bytes).toBe(2 * LONG.length);
  expect(JSON.stringify(taken)).not.toContain('long text');
  expect([...digestsIn(taken)]).toEqual(texts.all.map(({ digest }) => digest));
});

it('restores every value, also texts that look like references', () => {
  const odd = fc.constantFrom(
    '\u0001',
    '\u0001\u0001',
    '\u0001text:',
    '\u0001text:abc',
    '\u0001\u0001text:abc',
    LONG,
    `\u0001${LONG}`,
  );
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), odd, odd, (value, one, other) => {
      const whole = JSON.parse(JSON.stringify({ value, one, list: [other, { one, other }] })) as unknown;
      expect(roundTrip(whole)).toEqual(whole);
    }),
  );
});

it('throws when a text is missing', () => {
  expect(() => withTexts(new LargeTexts().extractFrom([LONG]), new Map())).toThrow('missing');
});
