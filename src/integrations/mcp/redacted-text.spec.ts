import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { computingUnits } from '../../../test/support/computing-time.js';
import { MAX_ERROR_TEXT } from './mcp-limits.js';
import { redactedText } from './redacted-text.js';

/** Three times what the redaction takes. */
const MAX_UNITS = 5;
const KEY = 'sk-Live_4711abcdef8899';
const BASIC = `Basic ${Buffer.from('customer-7:pass/word 99+').toString('base64')}`;

describe("a server's text", () => {
  it.each([
    ['as it is', 'Bearer SEKRET-CANARY-3', 'You sent Bearer SEKRET-CANARY-3!', 'You sent Bearer [redacted]!'],
    ['without its scheme', 'Bearer SEKRET-CANARY-3', 'Invalid API key: SEKRET-CANARY-3', 'Invalid API key: [redacted]'],
    ['in another case', KEY, `No ${KEY.toUpperCase()}`, 'No [redacted]'],
    ['with its first characters', KEY, `No ${KEY.slice(0, 14)}...`, 'No [redacted]...'],
    ['with its last characters', KEY, `No ...${KEY.slice(-12)}`, 'No ...[redacted]'],
    ['with few of them', KEY, `No ${KEY.slice(0, 8)}...${KEY.slice(-4)}`, `No ${KEY.slice(0, 8)}...${KEY.slice(-4)}`],
    ['a short one', 'hunter', 'hunter is wrong', '[redacted] is wrong'],
    ['one word of several', 'key-id-5 mystery', 'No key-id-5, no mystery', 'No [redacted], no [redacted]'],
    ['beside its name', 'Token token="abcdef77"', 'The token abcdef77', 'The token [redacted]'],
    ['the password of Basic credentials', BASIC, 'pass/word 99+ of customer-7', '[redacted] of [redacted]'],
    ['Basic credentials as sent', BASIC, `Not ${BASIC}`, 'Not Basic [redacted]'],
    ['encoded for a URL', 'pass/word&99', 'key=pass%2fword%2699', 'key=[redacted]'],
    ['encoded for JSON', 'pass"word99', '{"key":"pass\\"word99"}', '{"key":"[redacted]"}'],
    ['on two lines', 'secret value 9', 'secret\n  value 9', '[redacted]'],
    ['twice, side by side', 'abcabcabcabcabc', 'abcabcabcabcabcabcabc', '[redacted]'],
  ])('does not contain a secret (%s)', (_how, secret, text, redacted) => {
    expect(redactedText(text, [secret])).toBe(redacted);
  });

  it.each(['a', 'x', '', ' ', 'key', 'Bearer', 'Basic ', 'Token token', 'Bearer a'])(
    'keeps an ordinary word that is a secret too: %j',
    (secret) => {
      const text = 'A bearer token, or Basic authorization with a key, is missing.';
      expect(redactedText(text, [secret])).toBe(text);
    },
  );

  it('never contains more than a few successive characters of a secret, wherever it is cut', () => {
    const part = fc
      .string({ minLength: 12, maxLength: 60, unit: 'grapheme-ascii' })
      .filter((text) => !/\s/.test(text) && text.trim().length >= 12);
    const scheme = fc.constantFrom('', 'Bearer ', 'Token ', 'ApiKey ');
    const encoded = fc.constantFrom<(text: string) => string>(String, encodeURIComponent, (text) =>
      JSON.stringify(text).slice(1, -1),
    );
    const lengths = fc.oneof(fc.nat(20), fc.integer({ min: 400, max: 700 }), fc.integer({ min: 3_900, max: 4_100 }));
    const around = fc.tuple(lengths, fc.constantFrom(' ', '.', '\u0000'), lengths);
    fc.assert(
      fc.property(part, scheme, encoded, around, fc.nat(48), (secret, before, encode, [left, filler, right], from) => {
        const piece = encode(secret).slice(from > encode(secret).length - 12 ? 0 : from);
        const redacted = redactedText(`${filler.repeat(left)}${piece}${filler.repeat(right)}`, [`${before}${secret}`]);
        for (let start = 0; start + 12 <= piece.length; start += 1) {
          const sequence = piece.slice(start, start + 12);
          if (!/^\.+$/.test(sequence)) expect(redacted).not.toContain(sequence);
        }
        expect([...redacted].length).toBeLessThanOrEqual(MAX_ERROR_TEXT);
      }),
      { numRuns: 500 },
    );
  });

  it('is unchanged without secrets in it', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('not', 'found', 'tool', 'missing', '404', 'argument'), {
          minLength: 1,
          maxLength: 40,
        }),
        (words) => {
          expect(redactedText(words.join(' '), [KEY, BASIC, 'Bearer SEKRET-CANARY-3'])).toBe(words.join(' '));
        },
      ),
    );
  });

  it('is redacted quickly, however large it and the secrets are', () => {
    const secrets = Array.from({ length: 50 }, (_, index) => `"/${index} `.repeat(1_500) + 'a'.repeat(1_000));
    const all = ['a'.repeat(1_048_576), '"/1 '.repeat(262_144), ' '.repeat(1_048_576)];
    expect(computingUnits(() => all.forEach((text) => redactedText(text, secrets)))).toBeLessThan(MAX_UNITS);
  });
});
