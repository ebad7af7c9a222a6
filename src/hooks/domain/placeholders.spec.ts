import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../models/index.js';
import { declaredValues, fillPlaceholders } from './placeholders.js';

const input: JsonObject = {
  prompt: 'Hi',
  stop_hook_active: false,
  count: 0,
  nothing: null,
  empty: '',
  tool_input: { path: '/a', items: [{ id: 7 }], 'a.b': 1, deep: { flag: true } },
  text: 'costs ${prompt} and $& and $1',
};

const one = (value: unknown): unknown => fillPlaceholders({ key: value }, input)['key'];

describe('a value that is exactly one placeholder', () => {
  it.each<[string, unknown]>([
    ['${prompt}', 'Hi'],
    ['${stop_hook_active}', false],
    ['${count}', 0],
    ['${nothing}', null],
    ['${empty}', ''],
    ['${tool_input}', input['tool_input']],
    ['${tool_input.items}', [{ id: 7 }]],
    ['${tool_input.items.0.id}', 7],
    ['${tool_input.deep.flag}', true],
  ])('keeps the type of its field: %s', (text, expected) => {
    expect(one(text)).toEqual(expected);
  });

  it.each([
    ...[
      '${missing}',
      '${tool_input.missing}',
      '${prompt.length}',
      '${nothing.x}',
      '${tool_input.items.1}',
      '${tool_input.a.b}',
    ],
    ...[
      '${constructor}',
      '${__proto__}',
      '${tool_input.toString}',
      '${tool_input.items.length.x}',
      '${ prompt }',
      '${.}',
      '${prompt.}',
      '${.prompt}',
      '${tool_input.__proto__.polluted}',
      '${tool_input.constructor.prototype}',
      '${tool_input.items.length}',
      '${tool_input.items.map}',
      '${tool_input.items.-1}',
    ],
  ])('drops its key when the field is absent: %s', (text) => {
    expect(fillPlaceholders({ kept: 1, key: text }, input)).toEqual({ kept: 1 });
  });
});

describe('a text with placeholders in it', () => {
  it.each<[string, unknown]>([
    ['Say ${prompt}!', 'Say Hi!'],
    ['${prompt}${prompt}', 'HiHi'],
    ['n=${count}, ${stop_hook_active}, ${nothing}', 'n=0, false, null'],
    ['${prompt}: ${tool_input.items}', 'Hi: [{"id":7}]'],
    ['[${empty}]', '[]'],
    ['plain', 'plain'],
    ['$prompt, ${}, {prompt}, ${prompt', '$prompt, ${}, {prompt}, ${prompt'],
    ['${${prompt}}', '${Hi}'],
    ['$${prompt}', '$Hi'],
  ])('is replaced: %s', (text, expected) => {
    expect(one(text)).toEqual(expected);
  });

  it('is replaced once: the text of a field is neither a template nor a replacement pattern', () => {
    expect(one('It ${text}')).toBe('It costs ${prompt} and $& and $1');
    expect(one('${text}')).toBe('costs ${prompt} and $& and $1');
  });

  it('drops its key when the field of one of them is absent', () => {
    expect(fillPlaceholders({ a: 'x ${prompt} ${missing}', b: '${prompt}' }, input)).toEqual({ b: 'Hi' });
  });
});

describe('nested values', () => {
  it('are replaced at every depth, while keys and other values stay as they are', () => {
    const template: JsonObject = {
      list: ['${prompt}', '${missing}', 3, null, ['${count}']],
      object: { a: { b: '${tool_input.path}', absent: '${missing}' } },
      '${prompt}': true,
    };
    expect(fillPlaceholders(template, input)).toEqual({
      list: ['Hi', 3, null, [0]],
      object: { a: { b: '/a' } },
      '${prompt}': true,
    });
  });
});

describe('declaredValues', () => {
  const values: JsonObject = { a: 1, b: 2, constructor: 3 };

  it('keeps the values that the schema declares', () => {
    expect(declaredValues(values, { type: 'object', properties: { a: {}, c: {} } })).toEqual({ a: 1 });
  });

  it.each<[string, JsonObject]>([
    ['no properties', { type: 'object' }],
    ['properties that are none', { properties: null }],
    ['nothing', {}],
  ])('keeps nothing when the schema declares %s', (_what, schema) => {
    expect(declaredValues(values, schema)).toEqual({});
  });
});
