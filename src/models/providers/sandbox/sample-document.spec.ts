import { expect, it } from '@jest/globals';
import { JsonSchema } from '../../../platform/json-schema/index.js';
import type { JsonObject } from '../../domain/model-runtime.js';
import { sampleDocument } from './sample-document.js';

const TREE = {
  type: 'object',
  properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
};

it.each<[string, JsonObject]>([
  [
    'an object',
    {
      type: 'object',
      properties: {
        city: { type: 'string', maxLength: 4 },
        code: { type: 'string', minLength: 30 },
        degrees: { type: 'number', minimum: -90, maximum: -3 },
        count: { type: 'integer', exclusiveMinimum: 3, multipleOf: 5 },
        at: { type: 'string', format: 'date-time' },
        kind: { enum: ['a', 'b'] },
        maybe: { type: ['null', 'string'] },
        yes: { type: 'boolean' },
        only: { const: { x: 1 } },
      },
      required: ['city', 'code', 'degrees', 'count', 'at', 'kind', 'maybe', 'yes', 'only'],
    },
  ],
  [
    'a list',
    { type: 'array', minItems: 3, items: { anyOf: [{ $ref: '#/$defs/a' }] }, $defs: { a: { type: 'integer' } } },
  ],
  ['all of several', { allOf: [{ type: 'object', properties: { a: { type: 'null' } } }, { required: ['a'] }] }],
  ['a recursive schema', { ...TREE, required: ['name'] }],
  ['anything', {}],
])('a sample of %s fits its schema', (_what, schema) => {
  const document = sampleDocument({ type: 'json_schema', name: 'n', schema, strict: false }, '[sandbox model]');
  expect(JsonSchema.read(schema).problemsOf(document)).toEqual([]);
});

it('a sample of any object is an object', () => {
  expect(sampleDocument({ type: 'json_object' }, 'text')).toEqual({ sample: 'text' });
});

it('a sample of a schema that asks for too much ends', () => {
  const many = { type: 'array', minItems: 1e9, items: { $ref: '#' } };
  const document = sampleDocument({ type: 'json_schema', name: 'n', schema: many, strict: false }, 'text');
  expect(JSON.stringify(document).length).toBeLessThan(100_000);
});
