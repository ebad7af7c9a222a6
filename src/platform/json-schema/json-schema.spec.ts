import { describe, expect, it } from '@jest/globals';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { JsonSchema, type JsonValues, UnusableSchema } from './json-schema.js';

const problems = (schema: JsonValues, document: unknown): readonly string[] =>
  JsonSchema.read(schema).problemsOf(document);

/** An independent implementation, which generates code. */
const ajv = new Ajv.default({ strict: false, validateSchema: false });
addFormats.default(ajv, ['date-time', 'date', 'email', 'uuid', 'ipv4']);

/** Undefined where the code that it generates is broken, as that of some conditions is. */
function otherVerdict(schema: JsonValues, document: unknown): boolean | undefined {
  try {
    return ajv.validate(JSON.parse(JSON.stringify(schema)) as object, document);
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

describe('a document', () => {
  it.each<[string, JsonValues, unknown, string[]]>([
    ['of the wrong type', { type: 'object' }, [], ['must be an object']],
    ['of none of the types', { type: ['string', 'null'] }, 1, ['must be a string or null']],
    ['with a fraction', { type: 'integer' }, 1.5, ['must be an integer']],
    ['outside of an enum', { enum: ['a', { b: 1 }] }, 'c', ['must be one of ["a",{"b":1}]']],
    ['unlike a const', { const: { a: 1 } }, { a: 2 }, ['must be {"a":1}']],
    ['below a minimum', { minimum: 1 }, 0, ['must be at least 1']],
    ['at an exclusive maximum', { exclusiveMaximum: 1 }, 1, ['must be less than 1']],
    ['between multiples', { multipleOf: 0.1 }, 0.25, ['must be a multiple of 0.1']],
    ['with too long a text, in code points', { maxLength: 1 }, '👋👋', ['must have at most 1 characters']],
    ['unlike a pattern', { pattern: '^\\d{3}$' }, '12', ['must match the pattern "^\\\\d{3}$"']],
    ['unlike a format', { format: 'date' }, '2026-02-30', ['must be a text of the format date']],
    ['with too few items', { minItems: 1 }, [], ['must have at least 1 items']],
    [
      'with an item twice',
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      ['must not have an item twice'],
    ],
    [
      'without what it must contain',
      { contains: { const: 1 }, minContains: 2 },
      [1],
      ['must have at least 2 items that match contains'],
    ],
    ['without a property', { required: ['a'] }, {}, ['must have the property "a"']],
    [
      'with a property too many',
      { properties: { a: true }, additionalProperties: false },
      { b: 1 },
      ['/b is not allowed'],
    ],
    [
      'with a name that does not fit',
      { propertyNames: { maxLength: 1 } },
      { bb: 1 },
      ['/bb must have at most 1 characters'],
    ],
    [
      'without what another property needs',
      { dependentRequired: { a: ['b'] } },
      { a: 1 },
      ['must have the property "b"'],
    ],
    ['that matches none', { anyOf: [{ type: 'null' }] }, 1, ['must match at least one of the 1 schemas of anyOf']],
    ['that matches two', { oneOf: [{}, {}] }, 1, ['must match exactly one of the 2 schemas of oneOf, and matches 2']],
    ['that must not match', { not: {} }, 1, ['must not match not']],
    [
      'against its condition',
      { if: { type: 'string' }, then: { minLength: 1 } },
      '',
      ['must have at least 1 characters'],
    ],
    [
      'with a problem in an item',
      { items: { $ref: '#/$defs/a~1b' }, $defs: { 'a/b': { properties: { n: { type: 'number' } } } } },
      [{ n: 1 }, { n: 'x' }],
      ['/1/n must be a number'],
    ],
    ['with a problem after a prefix', { prefixItems: [{}], items: { type: 'null' } }, [1, 2], ['/1 must be null']],
    ['of an older draft', { items: [{}], additionalItems: false }, [1, 2], ['/1 is not allowed']],
  ])('%s is refused with the place and what is wanted', (_what, schema, document, expected) => {
    expect(problems(schema, document)).toEqual(expected);
  });

  it('has at most five problems, with short names', () => {
    const document = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`${index}${'x'.repeat(500)}`, 1]));
    const found = problems({ additionalProperties: { type: 'string' } }, document);
    expect(found).toHaveLength(5);
    for (const problem of found) expect(problem.length).toBeLessThan(150);
  });

  it.each<[JsonValues, unknown]>([
    [{ multipleOf: 0.1 }, 0.3],
    [{ type: 'integer' }, 2],
    [{ pattern: 'b' }, 'abc'],
    [{ pattern: '^\\u00e9$' }, 'é'],
    [{ format: 'made-up' }, 'anything'],
    [{ $schema: 'http://json-schema.org/draft-07/schema#', $id: 'urn:x', title: 't', default: 1, examples: [1] }, 1],
    [{ $ref: '#/definitions/a', definitions: { a: { type: 'string' } } }, 'x'],
    [{ properties: { next: { $ref: '#' } } }, { next: { next: {} } }],
    [{ dependencies: { a: { required: ['b'] } } }, { a: 1, b: 2 }],
  ])('that fits %j is valid', (schema, document) => {
    expect(problems(schema, document)).toEqual([]);
  });

  it('is valid exactly when another implementation finds it valid', () => {
    const { document, schema } = fc.letrec<{ document: unknown; schema: JsonValues | boolean }>((tie) => ({
      document: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(null, true, false, 0, 1, 2, 1.5, -1, '', 'a', 'ab', 'b1', '2026-01-02', 'x@example.com', '👋'),
        fc.array(tie('document'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('document'), { maxKeys: 3 }),
      ),
      schema: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        fc.constantFrom(true, false, {}),
        fc.record(
          {
            type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
            enum: fc.uniqueArray(fc.constantFrom('a', 1, null, 'ab', 2), { minLength: 1, maxLength: 3 }),
            minimum: fc.integer({ min: -1, max: 2 }),
            exclusiveMaximum: fc.integer({ min: -1, max: 3 }),
            multipleOf: fc.constantFrom(1, 0.5, 2),
            minLength: fc.nat(2),
            maxLength: fc.nat(2),
            pattern: fc.constantFrom('^a', 'b', '^[a-z]\\d$', '^$'),
            format: fc.constantFrom('date', 'email'),
            minItems: fc.nat(2),
            maxItems: fc.nat(3),
            uniqueItems: fc.boolean(),
            required: fc.uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 }),
            minProperties: fc.nat(2),
          },
          { requiredKeys: [] },
        ),
        fc.record(
          {
            properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
            patternProperties: fc.dictionary(fc.constantFrom('^a', 'c'), tie('schema'), { maxKeys: 1 }),
            additionalProperties: tie('schema'),
            propertyNames: tie('schema'),
            items: tie('schema'),
            contains: tie('schema'),
            prefixItems: schemas(tie('schema')),
            allOf: schemas(tie('schema')),
            anyOf: schemas(tie('schema')),
            oneOf: schemas(tie('schema')),
            not: tie('schema'),
            if: tie('schema'),
            then: tie('schema'),
            else: tie('schema'),
            dependentSchemas: fc.dictionary(fc.constantFrom('a'), tie('schema'), { maxKeys: 1 }),
            dependentRequired: fc.constantFrom({ a: ['b'] }, {}),
          },
          { requiredKeys: [], noNullPrototype: true },
        ),
      ),
    }));
    const counts = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(schema, document, (given, value) => {
        const root: JsonValues = typeof given === 'boolean' ? { allOf: [given] } : given;
        const isValid = problems(root, value).length === 0;
        counts[isValid ? 'valid' : 'invalid'] += 1;
        expect([isValid, undefined]).toContain(otherVerdict(root, value));
      }),
      // The other implementation is wrong about some schemas with `contains`, which other seeds make.
      { numRuns: 300, seed: 34 },
    );
    expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(40);
  });
});

const typeName = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object');

function schemas(schema: fc.Arbitrary<JsonValues | boolean>): fc.Arbitrary<readonly (JsonValues | boolean)[]> {
  return fc.array(schema, { minLength: 1, maxLength: 3 });
}

it('a document of a thousand items with patterns can be checked', () => {
  const names = times(20, (index) => `p${index}`);
  const property = { type: 'string', maxLength: 50, pattern: '^[a-z]+$' };
  const properties = Object.fromEntries(names.map((name) => [name, property]));
  const document = times(1_000, () => Object.fromEntries(names.map((name) => [name, 'abcdef'])));
  expect(problems({ items: { properties } }, document)).toEqual([]);
});

describe('a schema', () => {
  it.each<[JsonValues, string]>([
    [{ type: 'text' }, '/type must be one of string, number, integer, boolean, null, array, object, or a list of them'],
    [{ properties: { a: 1 } }, '/properties/a must be a schema: an object or a boolean'],
    [{ properties: { a: { required: true } } }, '/properties/a/required must be a list of strings'],
    [{ anyOf: [] }, '/anyOf must be a list of schemas'],
    [{ minLength: -1 }, '/minLength must be an integer of at least 0'],
    [{ exclusiveMinimum: true }, '/exclusiveMinimum must be a number'],
    [{ maximum: Infinity }, '/maximum must be a number'],
    [{ multipleOf: 0 }, '/multipleOf must be a number greater than 0'],
    [{ enum: 'a' }, '/enum must be a list'],
    [{ $ref: 'https://example.com/schema' }, '/$ref must begin with #, since only schemas of the same document'],
    [{ $ref: '#/$defs/b', $defs: { a: {} } }, '/$ref leads to no schema of the document'],
    [{ $ref: '#/default', default: { type: 'string' } }, '/$ref leads to no schema of the document'],
    [{ unevaluatedProperties: false }, '/unevaluatedProperties is not supported'],
    [{ properties: { a: { $id: 'x' } } }, '/properties/a/$id is not supported'],
    [{ pattern: '(?=a)' }, '/pattern must be a regular expression in the syntax of RE2'],
    [{ pattern: '(' }, '/pattern must be a regular expression in the syntax of RE2'],
    [{ patternProperties: { '(a{100}){100}': {} } }, '/patternProperties is too complex'],
  ])('%j is refused with the place and what is wanted', (schema, message) => {
    expect(() => JsonSchema.read(schema)).toThrow(UnusableSchema);
    expect(() => JsonSchema.read(schema)).toThrow(message);
  });
});

/** Far more than the at most 90 ms that each takes, for a slow machine. */
const MAX_MS = 1_000;

/** Of about 100,000 characters at most, as a request may have. */
const HOSTILE: Readonly<Record<string, readonly [schema: JsonValues, document: unknown]>> = {
  'thousands of alternatives': [
    { items: { anyOf: times(2_000, (index) => ({ properties: { [`a${index}`]: false }, required: [`a${index}`] })) } },
    times(2_000, (index) => ({ [`a${index}`]: 1 })),
  ],
  'alternatives that double at each level': [{ $defs: doubling('anyOf', { type: 'null' }), $ref: '#/$defs/d0' }, 'x'],
  'all of two, at each level': [{ $defs: doubling('allOf', { type: 'string' }), $ref: '#/$defs/d0' }, 'x'],
  'a reference to itself': [{ $ref: '#' }, {}],
  'a recursion through alternatives': [{ anyOf: [{ $ref: '#' }, { $ref: '#' }] }, {}],
  'unique items': [
    { uniqueItems: true, items: { uniqueItems: true } },
    times(1_000, (index) => times(200, (item) => ({ index, item }))),
  ],
  'patterns of known slow forms': [
    { items: { pattern: '^(a+)+$', not: { pattern: '(a*)*b' } } },
    times(200, () => `${'a'.repeat(2_000)}!`),
  ],
  'thousands of patterns': [{ allOf: times(3_000, (index) => ({ pattern: `^[a-z]{${index % 50}}${index}` })) }, 'abc'],
  'patterns of properties': [
    { patternProperties: Object.fromEntries(times(200, (index) => [`a${index}.*b`, {}])) },
    Object.fromEntries(times(5_000, (index) => [`a${index}-${'x'.repeat(50)}`, 1])),
  ],
  'a large enum of large values': [
    { items: { enum: times(500, (index) => times(40, (item) => index * item)) } },
    times(2_000, (index) => times(90, (item) => index * item)),
  ],
  'long texts of every format': [
    { items: { allOf: ['date-time', 'time', 'email', 'uri', 'ipv6', 'uuid'].map((format) => ({ not: { format } })) } },
    times(300, () => 'a@'.repeat(4_900)),
  ],
  'a hundred thousand properties': [
    { properties: Object.fromEntries(times(5_000, (index) => [`p${index}`, {}])), items: { $ref: '#' } },
    times(5_000, () => ({ p: 1 })),
  ],
  'the smallest schemas': [{ allOf: times(33_000, () => ({})) }, times(10, () => 1)],
  'references through many names': [
    { items: { allOf: [{ not: {} }, ...times(2_900, () => ({ $ref: '#/items/allOf/0/not' }))] } },
    [1],
  ],
  'items after a long list': [{ not: alternatives({ items: false }) }, times(60_000, () => 0)],
  'items after a prefix of a long list': [
    { not: alternatives({ prefixItems: [true], items: false }) },
    times(60_000, () => 0),
  ],
  'a missing property with a long name': [{ not: alternatives({ required: ['x'.repeat(50_000)] }) }, {}],
  'a name that another one needs': [
    { not: alternatives({ dependentRequired: { a: ['x'.repeat(50_000)] } }) },
    { a: 1 },
  ],
  'a constant and a long name': [{ not: alternatives({ const: 1 }) }, { ['x'.repeat(100_000)]: 0 }],
  'no property besides thousands': [
    { not: alternatives({ additionalProperties: false }) },
    Object.fromEntries(times(9_000, (index) => [`a${index}`, 0])),
  ],
};

/** Many checks of one value against one schema, in few characters. */
function alternatives(schema: JsonValues): JsonValues {
  const to = (name: string) => times(1_000, () => ({ $ref: `#/not/$defs/${name}` }));
  return { $defs: { inner: { anyOf: to('schema') }, schema }, anyOf: to('inner') };
}

function times<Item>(length: number, item: (index: number) => Item): Item[] {
  return Array.from({ length }, (_, index) => item(index));
}

function doubling(keyword: string, last: JsonValues): JsonValues {
  const levels = times(60, (index) => [
    `d${index}`,
    { [keyword]: times(2, () => ({ $ref: `#/$defs/d${index + 1}` })) },
  ]);
  return Object.fromEntries([...levels, ['d60', last]]) as JsonValues;
}

describe('time', () => {
  it.each(Object.entries(HOSTILE))('to read and to check %s is short', (_what, [schema, document]) => {
    expect(JSON.stringify(schema).length).toBeLessThan(110_000);
    const started = performance.now();
    let read: JsonSchema | undefined;
    try {
      read = JsonSchema.read(schema);
    } catch (error) {
      expect(error).toBeInstanceOf(UnusableSchema);
    }
    const readAt = performance.now();
    read?.problemsOf(document);
    const checkedAt = performance.now();
    expect(Math.max(readAt - started, checkedAt - readAt)).toBeLessThan(MAX_MS);
  });
});
