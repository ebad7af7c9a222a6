import { describe, expect, it } from '@jest/globals';
import { parseContexts, MalformedContexts, promptParts } from './session-start.js';

const json = (value: unknown): string => JSON.stringify(value);
const context = { name: 'Plan', context: 'Gold' };

describe('the contexts in a result', () => {
  it.each<[string, string, readonly object[]]>([
    ['one', json({ contexts: [context] }), [context]],
    [
      'several, in their order',
      json({ contexts: [context, { name: 'A', context: 'B' }] }),
      [context, { name: 'A', context: 'B' }],
    ],
    ['none', json({ contexts: [] }), []],
    ['an empty answer', '', []],
    ['blanks', ' \n', []],
    ['with other fields', json({ contexts: [{ ...context, more: 1 }], more: 1 }), [context]],
    [
      'an empty name and an empty context',
      json({ contexts: [{ name: '', context: '' }] }),
      [{ name: '', context: '' }],
    ],
    ['plain text', 'Gold plan', [{ name: 'get_plan', context: 'Gold plan' }]],
    ['text that begins like JSON', '{"contexts": [', [{ name: 'get_plan', context: '{"contexts": [' }]],
    ['JSON without contexts', json({ plan: 'gold' }), [{ name: 'get_plan', context: '{"plan":"gold"}' }]],
    ['JSON that is no object', json([context]), [{ name: 'get_plan', context: json([context]) }]],
    ['an inherited field', json(null), [{ name: 'get_plan', context: 'null' }]],
  ])('%s', (_what, text, expected) => {
    expect(parseContexts(text, 'get_plan')).toEqual(expected);
  });

  it.each<[string, unknown]>([
    ['an object', {}],
    ['null', null],
    ['a text', 'Gold'],
    ['a text in the list', ['Gold']],
    ['null in the list', [null]],
    ['a list in the list', [[]]],
    ['no name', [{ context: 'x' }]],
    ['no context', [{ name: 'x' }]],
    ['a number as the context', [{ name: 'x', context: 1 }]],
    ['one that is wrong after one that is not', [context, { name: 1, context: 'x' }]],
  ])('are malformed: %s', (_what, contexts) => {
    expect(() => parseContexts(json({ contexts }), 'get_plan')).toThrow(MalformedContexts);
  });

  it('have strings of at most 10000 characters', () => {
    const long = '\u{1f600}'.repeat(10_001);
    const cut = '\u{1f600}'.repeat(10_000);
    expect(parseContexts(json({ contexts: [{ name: long, context: long }] }), 'get_plan')).toEqual([
      { name: cut, context: cut },
    ]);
    expect(parseContexts('x'.repeat(10_001), 'get_plan')).toEqual([{ name: 'get_plan', context: 'x'.repeat(10_000) }]);
  });

  it('are limited in number and size', () => {
    expect(parseContexts(json({ contexts: Array(100).fill(context) }), 't')).toHaveLength(100);
    expect(() => parseContexts(json({ contexts: Array(101).fill(context) }), 't')).toThrow(MalformedContexts);
    const large = { name: '', context: 'x'.repeat(10_000) };
    expect(parseContexts(json({ contexts: Array(20).fill(large) }), 't')).toHaveLength(20);
    expect(() => parseContexts(json({ contexts: Array(21).fill(large) }), 't')).toThrow(MalformedContexts);
  });
});

describe('the prompt', () => {
  it('has the contexts of the hook under their names, followed by those of the handlers', () => {
    const hook = {
      fetchedAt: '2026-01-01T00:00:00.000Z',
      status: 'ok',
      contexts: [context, { name: '', context: 'Bare' }],
    } as const;
    expect(promptParts({ additionalContext: ['It rains.'], hook })).toEqual(['## Plan\n\nGold', 'Bare', 'It rains.']);
    expect(promptParts({ additionalContext: [], hook: null })).toEqual([]);
  });
});
