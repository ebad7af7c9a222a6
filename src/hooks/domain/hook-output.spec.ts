import { describe, expect, it } from '@jest/globals';
import { type HookOutput, MalformedOutput, readOutput, readToolOutput } from './hook-output.js';

const read = (value: unknown): HookOutput => readOutput(JSON.stringify(value));

describe('the response of a handler', () => {
  it.each(['', ' \n\t'])('is an empty output when it is empty (%j)', (text) => {
    expect([readOutput(text), readToolOutput(text)]).toEqual([{}, {}]);
  });

  it('is read with all its fields', () => {
    const output = {
      decision: 'block',
      reason: 'No',
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        additionalContext: 'inner',
        permissionDecision: 'ask',
        permissionDecisionReason: 'Why',
        updatedInput: { a: [1, null, { b: 'c' }] },
      },
      additionalContext: 'outer',
    };
    expect(read(output)).toEqual({
      decision: 'block',
      reason: 'No',
      additionalContext: ['inner', 'outer'],
      permissionDecision: 'ask',
      permissionDecisionReason: 'Why',
      updatedInput: { a: [1, null, { b: 'c' }] },
    });
  });

  it.each<[string, unknown, HookOutput]>([
    ['an empty object', {}, {}],
    ['other keys alone', { continue: false, systemMessage: 7, hookSpecificOutput: { more: [] } }, {}],
    [
      'null in place of everything',
      { decision: null, reason: null, hookSpecificOutput: null, additionalContext: null },
      {},
    ],
    [
      'null inside',
      {
        hookSpecificOutput: {
          hookEventName: null,
          additionalContext: null,
          permissionDecision: null,
          permissionDecisionReason: null,
          updatedInput: null,
        },
      },
      {},
    ],
    ['an empty context', { additionalContext: '', hookSpecificOutput: { additionalContext: '' } }, {}],
    [
      'the same context twice',
      { additionalContext: 'x', hookSpecificOutput: { additionalContext: 'x' } },
      { additionalContext: ['x'] },
    ],
    [
      'the name of another event',
      { hookSpecificOutput: { hookEventName: 'Unheard', permissionDecision: 'allow' } },
      { permissionDecision: 'allow' },
    ],
    ['an empty reason', { reason: '' }, { reason: '' }],
    ['empty arguments', { hookSpecificOutput: { updatedInput: {} } }, { updatedInput: {} }],
  ])('is read: %s', (_what, value, expected) => {
    expect(read(value)).toEqual(expected);
  });

  it.each(['plain', '{', '{"a":1}{}', 'null', '[]', '7', '"x"', 'true', '{"a":1}\u0000'])(
    'is malformed when it is not a JSON object: %j',
    (text) => {
      expect(() => readOutput(text)).toThrow(MalformedOutput);
    },
  );

  it.each<[string, unknown]>([
    ['decision approve', { decision: 'approve' }],
    ['decision Block', { decision: 'Block' }],
    ['decision false', { decision: false }],
    ['reason', { reason: 7 }],
    ['additionalContext', { additionalContext: ['x'] }],
    ['hookSpecificOutput text', { hookSpecificOutput: 'x' }],
    ['hookSpecificOutput list', { hookSpecificOutput: [] }],
    ['hookEventName', { hookSpecificOutput: { hookEventName: 7 } }],
    ['additionalContext inside', { hookSpecificOutput: { additionalContext: {} } }],
    ['permissionDecision', { hookSpecificOutput: { permissionDecision: 'maybe' } }],
    ['permissionDecision true', { hookSpecificOutput: { permissionDecision: true } }],
    ['permissionDecisionReason', { hookSpecificOutput: { permissionDecisionReason: 7 } }],
    ['updatedInput text', { hookSpecificOutput: { updatedInput: 'x' } }],
    ['updatedInput list', { hookSpecificOutput: { updatedInput: [] } }],
  ])('is malformed when a field has a wrong type, and the message names it: %s', (what, value) => {
    const [field = ''] = what.split(' ');
    expect(() => read(value)).toThrow(MalformedOutput);
    expect(() => read(value)).toThrow(field);
  });
});

describe('strings', () => {
  const long = '\u{1f600}'.repeat(10_001);
  const cut = '\u{1f600}'.repeat(10_000);

  it('are cut at 10000 code points in every field', () => {
    const value = {
      reason: long,
      additionalContext: long,
      hookSpecificOutput: { permissionDecisionReason: long, updatedInput: { a: long, b: [{ c: long }] } },
    };
    expect(read(value)).toEqual({
      reason: cut,
      additionalContext: [cut],
      permissionDecisionReason: cut,
      updatedInput: { a: cut, b: [{ c: cut }] },
    });
  });

  it('of 10000 code points are not cut', () => {
    expect(read({ reason: cut })).toEqual({ reason: cut });
  });

  it('are cut in the plain text of a tool, too', () => {
    expect(readToolOutput('x'.repeat(10_001))).toEqual({ additionalContext: ['x'.repeat(10_000)] });
  });

  it('are cleaned before they are cut, so that no part of a secret at the cut remains', () => {
    const clean = (text: string): string => text.replaceAll('secret', '*');
    const text = `${'x'.repeat(9_997)}secret`;
    expect(readOutput(JSON.stringify({ reason: text, additionalContext: text }), clean)).toEqual({
      reason: `${'x'.repeat(9_997)}*`,
      additionalContext: [`${'x'.repeat(9_997)}*`],
    });
  });
});

describe('updatedInput', () => {
  const nested = (levels: number): string => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
  const updated = (text: string): HookOutput => readOutput(`{"hookSpecificOutput":{"updatedInput":${text}}}`);

  it('may be as deep as a body of 64 levels allows, and is malformed when it is deeper', () => {
    expect(updated(nested(62))).toEqual({ updatedInput: JSON.parse(nested(62)) as object });
    expect(() => updated(nested(63))).toThrow(MalformedOutput);
    expect(() => updated(`{"a":${'['.repeat(62)}${']'.repeat(62)}}`)).toThrow(MalformedOutput);
    expect(() => updated(nested(100_000))).toThrow(MalformedOutput);
  });

  it.each([
    ['{"hookSpecificOutput":{"updatedInput":{"a":{"__proto__":{"admin":true}}}}}'],
    ['{"__proto__":{"decision":"block"}}'],
    ['{"hookSpecificOutput":{"__proto__":{"permissionDecision":"deny"}}}'],
  ])('cannot set a prototype: %s', (text) => {
    expect(() => readOutput(text)).toThrow(MalformedOutput);
  });
});

describe('the text of a tool', () => {
  it.each<[string, HookOutput]>([
    ['{"decision":"block"}', { decision: 'block' }],
    [' \n{"reason":"x"} ', { reason: 'x' }],
    ['\ufeff{}', {}],
    ['[Note] It is Monday.', { additionalContext: ['[Note] It is Monday.'] }],
    ['  indented', { additionalContext: ['  indented'] }],
    ['It is Monday.', { additionalContext: ['It is Monday.'] }],
    ['[1] first, [2] second', { additionalContext: ['[1] first, [2] second'] }],
    ['"quoted"', { additionalContext: ['"quoted"'] }],
    ['7', { additionalContext: ['7'] }],
    ['null', { additionalContext: ['null'] }],
    ['say {"decision":"block"}', { additionalContext: ['say {"decision":"block"}'] }],
  ])('is an output when it looks like JSON, and context otherwise: %j', (text, expected) => {
    expect(readToolOutput(text)).toEqual(expected);
  });

  it.each(['{"decision":', '{not json}', '[]', '[{"decision":"block"}]', '{"decision":"approve"}'])(
    'is malformed when it looks like JSON and is not an output: %j',
    (text) => {
      expect(() => readToolOutput(text)).toThrow(MalformedOutput);
    },
  );
});

describe('the size of an output', () => {
  const updated = (input: object): string => JSON.stringify({ hookSpecificOutput: { updatedInput: input } });

  it.each([
    ['20000 values', { list: Array.from({ length: 20_001 }, () => 1) }],
    [
      '2000 different combinations of field names',
      Object.fromEntries(Array.from({ length: 2_001 }, (_, index) => [`k${index}`, 1])),
    ],
  ])('is limited to %s, so that parsing eight of them does not block the event loop', (what, input) => {
    expect(() => readOutput(updated(input))).toThrow(MalformedOutput);
    expect(() => readOutput(updated(input))).toThrow(what);
    expect(() => readToolOutput(updated(input))).toThrow(what);
  });
});
