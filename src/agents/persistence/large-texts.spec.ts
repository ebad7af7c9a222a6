import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { digestsIn, LargeTexts, putBack } from './large-texts.js';

const LONG = 'long text '.repeat(1_000);

function roundTrip(value: unknown): unknown {
  const texts = new LargeTexts();
  const stored = JSON.parse(JSON.stringify(texts.takenOut(value))) as unknown;
  return putBack(stored, new Map(texts.all.map(({ digest, content }) => [digest, content])));
}

it('takes a text out once, wherever it stands, and counts it each time', () => {
  const texts = new LargeTexts();
  const taken = texts.takenOut([{ before: LONG, after: { content: LONG, name: 'Tone' } }, 'short', 7, null]);
  expect(texts.all).toEqual([{ digest: expect.any(String), content: LONG }]);
  expect(texts.bytes).toBe(2 * LONG.length);
  expect(JSON.stringify(taken)).not.toContain('long text');
  expect([...digestsIn(taken)]).toEqual(texts.all.map(({ digest }) => digest));
});

it('gives back what it was given, texts that look like its own marks included', () => {
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

it('says so when a text is missing', () => {
  expect(() => putBack(new LargeTexts().takenOut([LONG]), new Map())).toThrow('missing');
});
