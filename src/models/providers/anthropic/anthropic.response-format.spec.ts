import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../domain/model-runtime.js';
import { nativeSchema } from './anthropic.response-format.js';

const native = (schema: JsonObject): JsonObject | undefined =>
  nativeSchema({ type: 'json_schema', name: 'n', schema, strict: false });

const A = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

describe('a schema that the API enforces', () => {
  it('has closed objects, and notes in place of the keywords that the API refuses', () => {
    expect(native({ ...A, properties: { a: { type: 'string', maxLength: 3, description: 'Short.' } } })).toEqual({
      ...A,
      properties: { a: { type: 'string', description: 'Short.\n\n{maxLength: 3}' } },
      additionalProperties: false,
    });
  });

  it('keeps definitions, choices, enums and formats', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        one: { $ref: '#/$defs/A' },
        two: { $ref: '#/$defs/A' },
        some: { type: 'array', items: { anyOf: [{ type: 'null' }, { enum: ['x', 'y'] }] } },
        at: { type: ['string', 'null'], format: 'date-time' },
      },
      $defs: { A },
    };
    expect(native(schema)).toMatchObject({
      properties: { one: { $ref: '#/$defs/A' }, some: { items: { anyOf: [{ type: 'null' }, { enum: ['x', 'y'] }] } } },
      $defs: { A: { ...A, additionalProperties: false } },
    });
  });
});

describe('a schema that the API cannot enforce', () => {
  it.each<[string, JsonObject]>([
    ['a map', { type: 'object', additionalProperties: { type: 'number' } }],
    ['a map in a property', { ...A, properties: { a: { type: 'object', additionalProperties: true } } }],
    ['an object with any properties', { type: 'object' }],
    ['a list of anything', { type: 'array' }],
    ['names by pattern', { ...A, patternProperties: { '^x': {} } }],
    ['a recursion', { ...A, properties: { next: { $ref: '#' } } }],
    [
      'a recursion through definitions',
      { $ref: '#/$defs/A', $defs: { A: { ...A, properties: { a: { $ref: '#/$defs/A' } } } } },
    ],
    ['definitions of an older draft', { ...A, properties: { a: { $ref: '#/definitions/B' } }, definitions: { B: A } }],
    ['a choice beside a type', { ...A, anyOf: [A] }],
    ['a condition', { ...A, if: A }],
    ['no type', { description: 'anything' }],
    ['a boolean schema', { ...A, properties: { a: true } }],
  ])('(%s) is left to the prompt and the check', (_what, schema) => {
    expect(native(schema)).toBeUndefined();
  });

  it('takes no time to find out, however its definitions refer to each other', () => {
    const definitions = Array.from({ length: 60 }, (_, index) => [
      `d${index}`,
      { anyOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
    ]);
    const $defs = Object.fromEntries([...definitions, ['d60', A]]) as JsonObject;
    expect(native({ $ref: '#/$defs/d0', $defs })).toHaveProperty('$defs.d60');
  });
});
