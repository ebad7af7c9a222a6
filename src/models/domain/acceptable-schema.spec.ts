import { describe, expect, it } from '@jest/globals';
import { acceptableSchema } from './acceptable-schema.js';
import type { JsonObject } from './model-runtime.js';

const object = (properties: object, rest: object = {}): JsonObject => ({ type: 'object', properties, ...rest });

describe('the schema of a tool', () => {
  it('is unchanged if it is valid', () => {
    const schema = object(
      {
        when: { type: 'string', format: 'date', description: 'A day', pattern: '^\\d+' },
        tags: { type: 'array', items: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/tag' }] }, minItems: 1 },
        kind: { enum: ['a', 1, null], default: 'a' },
        more: { type: ['object', 'null'], additionalProperties: { type: 'number', minimum: 0 } },
      },
      {
        required: ['when'],
        additionalProperties: false,
        $defs: { tag: { type: 'object', properties: { id: { type: 'integer' } } } },
      },
    );
    expect(acceptableSchema(schema)).toEqual(schema);
  });

  it.each<[string, object, object]>([
    ['a type that is none', { type: 'strnig' }, {}],
    ['a list of types with one twice', { type: ['string', 'string'] }, {}],
    ['a pattern that is none', { type: 'string', pattern: '(' }, { type: 'string' }],
    ['a bound that is no number', { type: 'number', minimum: '1' }, { type: 'number' }],
    ['a negative count', { type: 'string', minLength: -1 }, { type: 'string' }],
    ['an empty enum', { enum: [] }, {}],
    ['a reference to nothing', { $ref: '#/$defs/absent' }, {}],
    ['a reference to another document', { $ref: 'http://169.254.169.254/latest' }, {}],
    ['an array without items', { type: 'array' }, { type: 'array', items: {} }],
    ['items of an older dialect', { type: 'array', items: [{ type: 'string' }] }, { type: 'array', items: {} }],
    ['an empty combination', { anyOf: [] }, {}],
    ['examples that are no list', { type: 'string', examples: 'one' }, { type: 'string' }],
    ['dependencies that are no object', { type: 'object', dependencies: ['a'] }, { type: 'object' }],
    [
      'dependencies that are neither schemas nor names',
      { dependencies: { a: 7, b: ['c', 1, 'c'], d: true } },
      { dependencies: { b: ['c'], d: true } },
    ],
    ['what is wrong within dependencies', { dependencies: { a: { minLength: -1 } } }, { dependencies: { a: {} } }],
    ['a reference to what is no schema', { $ref: '#/properties/a/default', default: {} }, { default: {} }],
    ['a description that is no text', { description: 7 }, {}],
    ['an address of its own', { $id: 'http://x/', $anchor: 'a', type: 'string' }, { type: 'string' }],
  ])('loses %s', (_what, wrong, repaired) => {
    expect(acceptableSchema(object({ a: wrong }))).toEqual(object({ a: repaired }));
    expect(acceptableSchema(object({ a: { not: wrong } }))).toEqual(object({ a: { not: repaired } }));
  });

  it.each<[string, object, string]>([
    ['that is none', { $defs: { x: 7 } }, '#/$defs/x'],
    [
      'within a combination that is left out',
      { $defs: { x: { anyOf: [{ type: 'string' }, 7] } } },
      '#/$defs/x/anyOf/0',
    ],
    ['within items of an older dialect', { $defs: { x: { items: [{ type: 'string' }] } } }, '#/$defs/x/items/0'],
    [
      'within a pattern that is none',
      { $defs: { x: { patternProperties: { '(': { type: 'string' } } } } },
      '#/$defs/x/patternProperties/(',
    ],
    ['of an argument that providers cannot name', { properties: { 'a b': { type: 'string' } } }, '#/properties/a b'],
    ['in a combination at the top', { allOf: [{ type: 'string' }] }, '#/allOf/0'],
  ])('loses a reference to a schema %s', (_what, rest, $ref) => {
    const properties = { ...('properties' in rest ? (rest.properties as object) : {}), r: { $ref } };
    expect(acceptableSchema({ ...rest, type: 'object', properties })?.['properties']).toEqual({ r: {} });
  });

  it('keeps references to remaining schemas, also within dependencies', () => {
    const schema = object(
      {
        a: { $ref: '#/$defs/x' },
        b: { dependencies: { c: { $ref: '#/$defs/x/items' }, d: ['e'] }, examples: [1] },
        f: { $ref: '#' },
      },
      { $defs: { x: { type: 'array', items: { $ref: '#/properties/a' } } } },
    );
    expect(acceptableSchema(schema)).toEqual(schema);
  });

  it('has no combinations at the top level; their properties become optional', () => {
    const schema = {
      type: 'object',
      oneOf: [object({ a: { type: 'string' } }, { required: ['a'] }), object({ b: { type: 'number' } })],
    };
    expect(acceptableSchema(schema)).toEqual(object({ a: { type: 'string' }, b: { type: 'number' } }));
  });

  it('loses arguments whose names providers refuse, and is unusable if they are required', () => {
    expect(acceptableSchema(object({ 'a b': {}, ok: {} }))).toEqual(object({ ok: {} }));
    expect(acceptableSchema(object({ 'a b': {} }, { required: ['a b'] }))).toBeUndefined();
  });

  it('is unusable if it is not of an object, too large, or too deep', () => {
    expect(acceptableSchema({ type: 'string' })).toBeUndefined();
    expect(acceptableSchema(object({ a: { description: 'x'.repeat(262_144) } }))).toBeUndefined();
    expect(acceptableSchema(object({ a: nested(40) }))).toBeUndefined();
    expect(
      acceptableSchema(object({ a: { default: JSON.parse(`${'['.repeat(60_000)}${']'.repeat(60_000)}`) as unknown } })),
    ).toBeUndefined();
    expect(acceptableSchema(object({ a: nested(20) }))).toBeDefined();
  });

  it('does not run its patterns', () => {
    const pattern = '^(a+)+$';
    expect(acceptableSchema(object({ a: { type: 'string', pattern, default: `${'a'.repeat(40)}!` } }))).toMatchObject({
      properties: { a: { pattern } },
    });
  });

  it('is unusable if checking it would take too long', () => {
    const properties = Object.fromEntries(Array.from({ length: 3_000 }, (_, nth) => [`p${nth}`, { type: 'string' }]));
    expect(acceptableSchema({ type: 'object', properties })).toBeUndefined();
    const patterns = Object.fromEntries(Array.from({ length: 6_000 }, (_, nth) => [`^p${nth}$`, true]));
    expect(acceptableSchema({ type: 'object', patternProperties: patterns })).toBeUndefined();
  });
});

function nested(depth: number): object {
  return depth === 0 ? {} : { type: 'array', items: nested(depth - 1) };
}
