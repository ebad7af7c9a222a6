import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ModelMessage } from '../../models/index.js';
import { splitIntoExchanges, newestThatFit, characterCount, steadyPosition } from './truncate-history.js';

const user = (text: string): ModelMessage => ({ role: 'user', text });
const says = (text: string): ModelMessage => ({ role: 'assistant', text, toolCalls: [] });
const calls = (id: string): ModelMessage => ({
  role: 'assistant',
  text: '',
  toolCalls: [{ id, name: 'look_up', input: {} }],
});
const result = (id: string): ModelMessage => ({
  role: 'tool',
  toolCallId: id,
  toolName: 'look_up',
  output: 'found',
  isError: false,
});

const exchange = fc
  .tuple(fc.string({ maxLength: 40 }), fc.nat({ max: 3 }), fc.string({ maxLength: 40 }))
  .map(([question, tools, answer]) => [
    user(question),
    ...Array.from({ length: tools }, (_, index) => [calls(`c${index}`), result(`c${index}`)]).flat(),
    says(answer),
  ]);

describe('the history that a model reads', () => {
  it('has the newest whole exchanges that fit, in order', () => {
    fc.assert(
      fc.property(fc.array(exchange), fc.nat({ max: 500 }), (history, characters) => {
        const kept = newestThatFit(splitIntoExchanges(history.flat()), characters);

        expect(kept.flat()).toEqual(history.slice(history.length - kept.length).flat());
        expect(characterCount(kept.flat())).toBeLessThanOrEqual(characters);
        const next = history[history.length - kept.length - 1];
        if (next) expect(characterCount([...next, ...kept.flat()])).toBeGreaterThan(characters);
      }),
    );
  });

  it('never begins with an answer without its question', () => {
    expect(splitIntoExchanges([result('c0'), says('cut off'), user('Hi'), says('Hello')])).toEqual([
      [user('Hi'), says('Hello')],
    ]);
  });
});

describe('the beginning of a history that is cut', () => {
  it('lies in the range, and only moves forward as the range does', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000 }), fc.nat({ max: 200 }), fc.nat({ max: 50 }), (first, size, step) => {
        const begin = steadyPosition(first, first + size);

        expect(begin).toBeGreaterThanOrEqual(first);
        expect(begin).toBeLessThanOrEqual(first + size);
        expect(steadyPosition(first + step, first + size + step)).toBeGreaterThanOrEqual(begin);
      }),
    );
  });

  it('stays the same for many messages', () => {
    const begins = Array.from({ length: 1_000 }, (_, first) => steadyPosition(first + 1, first + 1 + 100));

    expect(new Set(begins).size).toBeLessThanOrEqual(25);
  });
});
