import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { computingMs } from '../../../test/support/computing-time.js';
import type { JsonObject } from '../../models/index.js';
import { inputFault } from './input-schema.js';

const a = (schema: unknown, rest: JsonObject = {}): JsonObject => ({ properties: { a: schema }, ...rest });
const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject;
const repeated = (times: number, around: (inner: unknown) => unknown, innermost: unknown): unknown => {
  let value = innermost;
  for (let time = 0; time < times; time += 1) value = around(value);
  return value;
};

/** 20 ms on a slow core, and as much again for what else the machine does. */
const MAX_CALL_MS = 40;

describe('the arguments of a tool', () => {
  it.each<[string, JsonObject, JsonObject, string | null]>([
    ['type', a({ type: 'string' }), { a: 1 }, '/a must be a string'],
    ['type', a({ type: 'string' }), { a: 'x' }, null],
    ['type', a({ type: 'integer' }), { a: 1.5 }, '/a must be an integer'],
    ['type', a({ type: 'integer' }), { a: 1.0 }, null],
    ['type', a({ type: ['string', 'null'] }), { a: false }, '/a must be a string or null'],
    ['type', a({ type: ['string', 'null'] }), { a: null }, null],
    ['type', a({ type: 'object' }), { a: [] }, '/a must be an object'],
    ['type', a({ type: 'array' }), { a: {} }, '/a must be an array'],
    ['type', { type: 'array' }, {}, 'the input must be an array'],
    ['type, unknown', a({ type: 'date' }), { a: 1 }, null],
    ['type, nullable', a({ type: 'string', nullable: true }), { a: null }, null],
    ['enum', a({ enum: [1, { b: [2] }] }), { a: { b: [3] } }, '/a must be one of the values that its schema lists'],
    ['enum', a({ enum: [1, { b: [2], c: 1 }] }), { a: { c: 1, b: [2] } }, null],
    ['const', a({ const: null }), { a: 0 }, '/a must be the constant of its schema'],
    ['required', { required: ['a', 'b'] }, { a: 1 }, '/b is required'],
    ['required', { required: ['toString'] }, {}, '/toString is required'],
    ['additionalProperties', a(true, { additionalProperties: false }), { a: 1, b: 2 }, '/b is not allowed'],
    [
      'additionalProperties',
      a(true, { additionalProperties: { type: 'number' } }),
      { a: 'x', b: 'x' },
      '/b must be a number',
    ],
    ['additionalProperties', { additionalProperties: false }, parsed('{"__proto__": 1}'), '/__proto__ is not allowed'],
    [
      'additionalProperties',
      a(true, { additionalProperties: false }),
      parsed('{"constructor": 1}'),
      '/constructor is not allowed',
    ],
    [
      'properties',
      parsed('{"properties": {"__proto__": {"type": "string"}}}'),
      parsed('{"__proto__": 1}'),
      '/__proto__ must be a string',
    ],
    [
      'patternProperties',
      { patternProperties: { '^x-': { type: 'number' } } },
      { 'x-1': 'x' },
      '/x-1 must be a number',
    ],
    [
      'patternProperties',
      { patternProperties: { '^x-': true }, additionalProperties: false },
      { 'x-1': 1, y: 1 },
      '/y is not allowed',
    ],
    [
      'patternProperties, undecidable',
      { patternProperties: { '(?=x)': true }, additionalProperties: false },
      { x: 1 },
      null,
    ],
    [
      'items',
      a({ items: { type: 'object', properties: { name: { type: 'string' } } } }),
      { a: [{ name: 1 }] },
      '/a/0/name must be a string',
    ],
    ['items, a list', a({ items: [{ type: 'string' }] }), { a: [1] }, '/a/0 must be a string'],
    [
      'prefixItems',
      a({ prefixItems: [true, { type: 'string' }], items: false }),
      { a: [1, 2] },
      '/a/1 must be a string',
    ],
    ['prefixItems', a({ prefixItems: [true], items: false }), { a: [1, 2] }, '/a/1 is not allowed'],
    ['minItems', a({ minItems: 1 }), { a: [] }, '/a must have at least 1 items'],
    ['maxItems', a({ maxItems: 1 }), { a: [1, 2] }, '/a must have at most 1 items'],
    ['uniqueItems', a({ uniqueItems: true }), { a: [{ b: 1 }, { b: 1 }] }, '/a must not have two equal items'],
    ['uniqueItems', a({ uniqueItems: true }), { a: [1, '1', null, [1], ['1'], {}] }, null],
    ['minLength', a({ minLength: 2 }), { a: '😀' }, '/a must have at least 2 characters'],
    ['maxLength', a({ maxLength: 2 }), { a: '😀😀' }, null],
    ['maxLength', a({ maxLength: 2 }), { a: '😀😀😀' }, '/a must have at most 2 characters'],
    ['pattern', a({ pattern: '^[a-z]+$' }), { a: 'aB' }, '/a must match the pattern of its schema'],
    ['pattern, undecidable', a({ pattern: '^(?!x)' }), { a: 'x' }, null],
    ['pattern of another dialect', a({ pattern: '^\\s$' }), { a: '\u00a0' }, null],
    ['pattern of another dialect', a({ pattern: '^[^]]$' }), { a: 'xy]' }, null],
    ['minimum', a({ minimum: 1 }), { a: 0 }, '/a must be at least 1'],
    ['maximum', a({ maximum: 1 }), { a: 2 }, '/a must be at most 1'],
    ['exclusiveMinimum', a({ exclusiveMinimum: 1 }), { a: 1 }, '/a must be more than 1'],
    ['exclusiveMaximum', a({ exclusiveMaximum: 1 }), { a: 1 }, '/a must be less than 1'],
    ['multipleOf', a({ multipleOf: 3 }), { a: 10 }, '/a must be a multiple of 3'],
    ['multipleOf', a({ multipleOf: 0.1 }), { a: 0.3 }, null],
    ['multipleOf', a({ multipleOf: 0.1 }), { a: 0.35 }, '/a must be a multiple of 0.1'],
    ['minProperties', { minProperties: 1 }, {}, 'the input must have at least 1 properties'],
    ['maxProperties', { maxProperties: 0 }, { a: 1 }, 'the input must have at most 0 properties'],
    ['allOf', a({ allOf: [true, { type: 'string' }] }), { a: 1 }, '/a must be a string'],
    [
      'anyOf',
      a({ anyOf: [{ type: 'string' }, { minimum: 2 }] }),
      { a: 1 },
      '/a must fit at least one of the alternatives of its schema',
    ],
    ['anyOf, undecided', a({ anyOf: [{ type: 'string' }, { pattern: '(?=)', type: ['odd'] }] }), { a: 1 }, null],
    [
      'oneOf',
      a({ oneOf: [true, { minimum: 1 }] }),
      { a: 1 },
      '/a must fit exactly one of the alternatives of its schema',
    ],
    ['oneOf, undecided', a({ oneOf: [{ minimum: 1 }, { format: 'even' }] }), { a: 1 }, null],
    [
      'oneOf, undecided beside two',
      a({ oneOf: [{ format: 'even' }, true, true] }),
      { a: 1 },
      '/a must fit exactly one of the alternatives of its schema',
    ],
    ['not', a({ not: { type: 'number' } }), { a: 1 }, '/a must not be what its schema rules out'],
    ['not, undecided', a({ not: { format: 'even' } }), { a: 1 }, null],
    ['not, undecided', a({ not: { minLength: 'many' } }), { a: 'x' }, null],
    ['not, without an end', a({ not: { $ref: '#/properties/a' } }), { a: 'x' }, null],
    [
      'if',
      a({ if: { type: 'number' }, then: { minimum: 2 }, else: { minLength: 2 } }),
      { a: 1 },
      '/a must be at least 2',
    ],
    [
      'if',
      a({ if: { type: 'number' }, then: { minimum: 2 }, else: { minLength: 2 } }),
      { a: 'x' },
      '/a must have at least 2 characters',
    ],
    ['if, undecided', a({ if: { format: 'even' }, then: false, else: false }), { a: 'x' }, null],
    [
      '$ref',
      a({ $ref: '#/$defs/a~1b%20~0c' }, { $defs: { 'a/b ~c': { type: 'string' } } }),
      { a: 1 },
      '/a must be a string',
    ],
    ['$ref', a({ $ref: '#/allOf/0' }, { allOf: [{ required: ['a'] }] }), { a: {} }, '/a/a is required'],
    [
      '$ref to itself',
      { properties: { a: { $ref: '#' } }, additionalProperties: false },
      { a: { a: { b: 1 } } },
      '/a/a/b is not allowed',
    ],
    [
      '$ref and what stands beside it',
      a({ $ref: '#/$defs/n', minimum: 2 }, { $defs: { n: {} } }),
      { a: 1 },
      '/a must be at least 2',
    ],
    [
      '$ref in an older dialect',
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        ...a({ $ref: '#/$defs/n', minimum: 2 }, { $defs: { n: {} } }),
      },
      { a: 1 },
      null,
    ],
    ['$ref to nothing', a({ $ref: '#/$defs/constructor' }, { $defs: {} }), { a: 1 }, null],
    ['$ref to elsewhere', a({ $ref: 'https://example.com/schema' }), { a: 1 }, null],
    ['$ref on another base', a({ $id: 'other', $ref: '#/$defs/n' }, { $defs: { n: false } }), { a: 1 }, null],
    ['boolean', a(false), { a: 1 }, '/a is not allowed'],
    ['nothing that is known', a({ wibble: 1, title: 'x' }), { a: 1 }, null],
    ['nothing that is a schema', a('string'), { a: 1 }, null],
    ['path', { additionalProperties: { required: ['x'] } }, { 'a/b~c': {} }, '/a~1b~0c/x is required'],
  ])('are checked by %s', (_keyword, schema, input, expected) => {
    expect(inputFault(schema, input)).toBe(expected);
  });

  it('are told by a short path, whatever their names', () => {
    const deep = repeated(20, (inner) => ({ ['n'.repeat(1_000)]: inner }), 1) as JsonObject;
    expect(inputFault({ additionalProperties: { $ref: '#' }, type: 'object' }, deep)?.length).toBeLessThan(400);
  });

  it('are refused only where another validator refuses them, and taken where that one does', () => {
    const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, logger: false });
    const count = fc.nat(3);
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '1', '-', '😀'), maxLength: 4 });
    const number = fc.oneof(fc.integer({ min: -4, max: 4 }), fc.constantFrom(0.5, 1.5, -0.25));
    const name = fc.constantFrom('a', 'b', 'c');
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.oneof(text, number, fc.boolean(), fc.constant(null)),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value;
    const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', 'null');
    const pattern = fc.constantFrom('^a', 'b$', '^[ab]*$', '.', '\\d', '^(a|ab)(c|bcd)?$', '[^a-]');
    const fewOf = (keywords: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<JsonObject> => {
      const each = Object.entries(keywords).map(([keyword, values]) => values.map((said) => [keyword, said] as const));
      return fc.array(fc.oneof(...each), { minLength: 1, maxLength: 4 }).map((said) => Object.fromEntries(said));
    };
    const { schema } = fc.letrec<{ schema: unknown; keywords: JsonObject }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small' },
        fc.boolean(),
        fc.constantFrom({ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }),
        tie('keywords'),
      ),
      keywords: fewOf({
        type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
        ...{ enum: fc.array(value, { minLength: 1, maxLength: 3 }), const: value, pattern, uniqueItems: fc.boolean() },
        ...{
          minLength: count,
          maxLength: count,
          minItems: count,
          maxItems: count,
          minProperties: count,
          maxProperties: count,
        },
        ...{
          minimum: number,
          maximum: number,
          exclusiveMinimum: number,
          exclusiveMaximum: number,
          multipleOf: fc.constantFrom(1, 2, 0.5),
        },
        ...{
          required: fc.uniqueArray(name, { maxLength: 2 }),
          properties: fc.dictionary(name, tie('schema'), { maxKeys: 3, noNullPrototype: true }),
        },
        ...{
          patternProperties: fc.dictionary(fc.constantFrom('a', '[bc]', '^$'), tie('schema'), {
            maxKeys: 2,
            noNullPrototype: true,
          }),
          additionalProperties: tie('schema'),
        },
        ...{
          items: tie('schema'),
          prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
          not: tie('schema'),
        },
        ...{ if: tie('schema'), then: tie('schema'), else: tie('schema') },
        ...Object.fromEntries(
          ['allOf', 'anyOf', 'oneOf'].map((keyword) => [
            keyword,
            fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
          ]),
        ),
      }),
    }));
    const plain = fc.constantFrom(
      {},
      { type: 'string' },
      { required: ['a'] },
      { minimum: 1 },
      { items: { type: 'number' } },
    );
    const root = fc.record(
      {
        $defs: fc.record({ a: plain, b: plain }),
        additionalProperties: schema,
        properties: fc.dictionary(name, schema, { noNullPrototype: true }),
      },
      { requiredKeys: ['$defs'], noNullPrototype: true },
    );
    const input = fc.dictionary(name, value, { maxKeys: 3, noNullPrototype: true });
    let refused = 0;
    fc.assert(
      fc.property(root, input, (given, sent) => {
        const fits = ajv.compile(given)(sent);
        const fault = inputFault(given, sent);
        if (fault !== null) refused += 1;
        ajv.removeSchema(given);
        expect([fault === null, fault]).toEqual([fits, fault]);
      }),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(100);
  });

  const bush = Object.fromEntries(
    Array.from({ length: 60 }, (_, level) => [
      `d${level}`,
      { anyOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] },
    ]),
  );
  const LONG = 'x'.repeat(50_000);
  it.each<[string, JsonObject, JsonObject]>([
    ['a reference in a circle', { $ref: '#' }, {}],
    ['a circle of two', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, {}],
    [
      'a circle that doubles',
      { $defs: { a: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' },
      {},
    ],
    ['alternatives that double', { $defs: { ...bush, d60: { type: 'string' } }, $ref: '#/$defs/d0' }, {}],
    [
      'alternatives in alternatives',
      repeated(5_000, (inner) => ({ anyOf: [inner, inner] }), { type: 'null' }) as JsonObject,
      {},
    ],
    ['a deep schema', repeated(100_000, (inner) => ({ not: inner }), true) as JsonObject, {}],
    ['a deep input', a({ $ref: '#' }), repeated(100_000, (inner) => ({ a: inner }), {}) as JsonObject],
    [
      'deep constants',
      { const: repeated(50_000, (inner) => [inner], 1) },
      { a: repeated(50_000, (inner) => [inner], 1) },
    ],
    [
      'many items',
      a({ items: { required: ['b'], properties: { b: { minLength: 1 } }, additionalProperties: false } }),
      { a: Array(60_000).fill({ b: 'x' }) },
    ],
    ['many equal items', a({ uniqueItems: true }), { a: Array.from({ length: 200_000 }, (_, index) => index) }],
    ['many objects', a({ uniqueItems: true }), { a: Array.from({ length: 60_000 }, (_, index) => ({ index })) }],
    ['many alternatives', { oneOf: Array(50_000).fill({ type: 'string' }) }, {}],
    [
      'many values',
      a({ items: { enum: Array.from({ length: 40_000 }, (_, index) => `v${index}`) } }),
      { a: Array(40_000).fill('w') },
    ],
    [
      'long values',
      a({ items: { enum: Array.from({ length: 20 }, (_, index) => `${LONG}${index}`) } }),
      { a: Array.from({ length: 20 }, () => `${LONG}y`) },
    ],
    [
      'long texts',
      a({ items: { allOf: Array(50).fill({ maxLength: 300_000 }) } }),
      { a: Array(50).fill('😀'.repeat(250_000)) },
    ],
    ['required names', { required: Array(150_000).fill('r') }, { r: 1 }],
    ['long references', { allOf: Array(20_000).fill({ $ref: `#/${'~1'.repeat(400)}` }) }, {}],
    [
      'hostile patterns',
      a({ allOf: Array.from({ length: 500 }, (_, index) => ({ pattern: `^(a|aa)+${index}$` })) }),
      { a: 'a'.repeat(5_000) },
    ],
    [
      'repeated patterns',
      a({ allOf: Array.from({ length: 100 }, (_, index) => ({ pattern: `((a{1,30}){1,30})${index}b` })) }),
      { a: 'a'.repeat(70) },
    ],
    [
      'patterns of Unicode',
      a({ allOf: Array.from({ length: 500 }, (_, index) => ({ pattern: `${'\\p{L}'.repeat(20)}${index}` })) }),
      { a: 'a'.repeat(700) },
    ],
    [
      'patterns of many names',
      { patternProperties: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`^(a|aa)+${index}$`, true])) },
      Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`${'a'.repeat(60)}${index}`, 1])),
    ],
  ])('take no long step: %s', (_what, schema, input) => {
    let written = 0;
    expect(computingMs(() => inputFault({ ...schema, title: (written += 1) }, input))).toBeLessThan(MAX_CALL_MS);
  });

  it('are taken where checking them would not end', () => {
    expect(inputFault({ $ref: '#' }, {})).toBeNull();
    expect(inputFault({ not: { $ref: '#' } }, {})).toBeNull();
    expect(inputFault(a({ items: { type: 'string' } }), { a: [...Array(100_000).fill('x'), 1] })).toBeNull();
  });
});
