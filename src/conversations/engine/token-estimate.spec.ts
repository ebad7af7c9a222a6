import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { charactersWithin, estimateTokens } from './token-estimate.js';

describe('the tokens of a text', () => {
  // Characters a token with the least efficient tokenizer of the catalogue.
  it.each([
    ['prose', 'The quick brown fox jumps over the lazy dog. It rains in Oslo, and no one minds.', 3.1],
    ['JSON', '{"id":4711,"name":"Ada Lovelace","tags":["math","engine"],"active":true}', 2.2],
    ['base64', Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 7_919) % 251)).toString('base64'), 1.4],
    ['Chinese', '今天的天气很好，我们去公园散步吧。', 1],
    ['numbers', '3141592653589793238462643383279502884197', 1],
  ])('is not estimated too low for %s', (_what, text, charactersAToken) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(text.length / charactersAToken);
    expect(estimateTokens(text)).toBeLessThanOrEqual(text.length);
  });

  it('limit how much of its start or end fits, without splitting a character', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 });
    fc.assert(
      fc.property(text, fc.nat({ max: 40 }), (whole, tokens) => {
        const start = whole.slice(0, charactersWithin(whole, tokens));
        const count = charactersWithin(whole, tokens, 'end');
        const end = whole.slice(whole.length - count);
        for (const part of [start, end]) {
          expect(part.isWellFormed()).toBe(true);
          expect(estimateTokens(part)).toBeLessThanOrEqual(tokens);
        }
        if (estimateTokens(whole) <= tokens) expect([start, end]).toEqual([whole, whole]);
      }),
    );
  });
});
