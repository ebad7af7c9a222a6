import type { Expression } from '../expressions/index.js';
import type { Assertion, Check, CompiledSchema, Place } from './check.js';
import { formatOf } from './formats.js';
import { UnusableSchema } from './unusable-schema.js';
import { canonical, CHARACTERS_A_STEP, isCount, isObject, type JsonValues, lengthOf, shown } from './values.js';

/** Reads the values of keywords that hold schemas, patterns or references. Throws `UnusableSchema`. */
export interface SchemaParts {
  schema(value: unknown, place: Place): CompiledSchema;
  list(value: unknown, place: Place): readonly CompiledSchema[];
  map(value: unknown, place: Place): readonly (readonly [string, CompiledSchema])[];
  pattern(value: unknown, place: Place): Expression;
  reference(value: unknown, place: Place): () => CompiledSchema;
}

interface Keyword {
  readonly parts: SchemaParts;
  /** The schema that has the keyword. */
  readonly schema: JsonValues;
  readonly value: unknown;
  readonly place: Place;
}

/** Undefined for a keyword that demands nothing by itself. */
type ReadKeyword = (keyword: Keyword) => Assertion | undefined;

const TYPES: ReadonlyMap<unknown, readonly [name: string, is: (value: unknown) => boolean]> = new Map([
  ['string', ['a string', (value) => typeof value === 'string']],
  ['number', ['a number', (value) => typeof value === 'number']],
  ['integer', ['an integer', Number.isInteger]],
  ['boolean', ['a boolean', (value) => typeof value === 'boolean']],
  ['null', ['null', (value) => value === null]],
  ['array', ['an array', Array.isArray]],
  ['object', ['an object', isObject]],
]);

function readType({ value, place }: Keyword): Assertion {
  const types = [value].flat().map((name) => TYPES.get(name));
  if (types.length === 0 || types.includes(undefined))
    throw new UnusableSchema(place, `must be one of ${[...TYPES.keys()].join(', ')}, or a list of them`);
  const wanted = types.filter((type) => type !== undefined);
  const problem = `must be ${wanted.map(([name]) => name).join(' or ')}`;
  return (check, value, place) => wanted.some(([, is]) => is(value)) || check.report(place, problem);
}

function readEnum({ value, place }: Keyword): Assertion {
  if (!Array.isArray(value)) throw new UnusableSchema(place, 'must be a list');
  const allowed = new Set(value.map((each) => canonical(each)));
  const problem = `must be one of ${shown(value)}`;
  return (check, value, place) => allowed.has(canonical(value, check)) || check.report(place, problem);
}

function readConst({ value }: Keyword): Assertion {
  const allowed = canonical(value);
  const problem = `must be ${shown(value)}`;
  return (check, value, place) => canonical(value, check) === allowed || check.report(place, problem);
}

/** A keyword that compares numbers. */
function bound(problem: string, fits: (value: number, limit: number) => boolean): ReadKeyword {
  return ({ value: limit, place }) => {
    // 1e999 is parsed as infinity, which is stored as null: the runs that resume this one could not read it.
    if (typeof limit !== 'number' || !Number.isFinite(limit)) throw new UnusableSchema(place, 'must be a number');
    return (check, value, place) =>
      typeof value !== 'number' || fits(value, limit) || check.report(place, `${problem} ${limit}`);
  };
}

function readMultipleOf(keyword: Keyword): Assertion | undefined {
  if (typeof keyword.value !== 'number' || keyword.value <= 0)
    throw new UnusableSchema(keyword.place, 'must be a number greater than 0');
  return bound('must be a multiple of', isMultiple)(keyword);
}

const ROUNDING = 4 * Number.EPSILON;

/** 0.3 is a multiple of 0.1, though their quotient as floating-point numbers is not whole. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  if (!Number.isFinite(quotient)) return false;
  return Math.abs(quotient - Math.round(quotient)) <= ROUNDING * Math.max(1, Math.abs(quotient));
}

/** A keyword that limits a number of characters, items or properties. @param count undefined for values of another type */
function size(
  what: 'characters' | 'items' | 'properties',
  end: 'least' | 'most',
  count: (value: unknown, check: Check) => number | undefined,
): ReadKeyword {
  return ({ value: limit, place }) => {
    if (!isCount(limit)) throw new UnusableSchema(place, 'must be an integer of at least 0');
    return (check, value, place) => {
      const counted = count(value, check);
      const fits = counted === undefined || (end === 'least' ? counted >= limit : counted <= limit);
      return fits || check.report(place, `must have at ${end} ${limit} ${what}`);
    };
  };
}

const characters = (value: unknown, check: Check) => (typeof value === 'string' ? lengthOf(value, check) : undefined);
const items = (value: unknown) => (Array.isArray(value) ? value.length : undefined);
const properties = (value: unknown, check: Check) => (isObject(value) ? namesOf(value, check).length : undefined);

function readPattern({ parts, value, place }: Keyword): Assertion {
  const expression = parts.pattern(value, place);
  const problem = `must match the pattern ${shown(value)}`;
  return (check, value, place) =>
    typeof value !== 'string' || isFound(expression, value, check) || check.report(place, problem);
}

/** An instruction of the engine takes a part of the time of an assertion. */
const ENGINE_STEP = 1 / 4;

function isFound(expression: Expression, text: string, check: Check): boolean {
  const steps = expression.stepsFor(text);
  check.spend(steps * ENGINE_STEP);
  return expression.test(text, steps) === true;
}

function readFormat({ value, place }: Keyword): Assertion | undefined {
  if (typeof value !== 'string') throw new UnusableSchema(place, 'must be a string');
  const isValid = formatOf(value);
  if (!isValid) return undefined;
  return (check, text, place) => {
    if (typeof text !== 'string') return true;
    check.spend(10 + text.length / 10);
    return isValid(text) || check.report(place, `must be a text of the format ${value}`);
  };
}

function readItems({ parts, schema, value, place }: Keyword): Assertion {
  // A list of schemas is `prefixItems` of older drafts.
  if (Array.isArray(value)) return prefix(parts.list(value, place));
  const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'].length : 0;
  return itemsFrom(first, parts.schema(value, place));
}

function readAdditionalItems({ parts, schema, value, place }: Keyword): Assertion | undefined {
  const compiled = parts.schema(value, place);
  return Array.isArray(schema['items']) ? itemsFrom(schema['items'].length, compiled) : undefined;
}

function prefix(schemas: readonly CompiledSchema[]): Assertion {
  return (check, value, place) =>
    !Array.isArray(value) ||
    every(schemas.slice(0, value.length), place, (schema, index) =>
      check.holds(schema, value[index], at(place, index)),
    );
}

function itemsFrom(first: number, schema: CompiledSchema): Assertion {
  return (check, value, place) => {
    if (!Array.isArray(value)) return true;
    let all = true;
    // A copy of the items would cost more than the steps of a check that ends at the first one.
    for (let index = first; index < value.length && (all || place !== null); index += 1)
      if (!check.holds(schema, value[index], at(place, index))) all = false;
    return all;
  };
}

function readUniqueItems({ value, place }: Keyword): Assertion | undefined {
  if (typeof value !== 'boolean') throw new UnusableSchema(place, 'must be a boolean');
  if (!value) return undefined;
  return (check, list, place) => {
    if (!Array.isArray(list)) return true;
    const isUnique = new Set(list.map((item) => canonical(item, check))).size === list.length;
    return isUnique || check.report(place, 'must not have an item twice');
  };
}

function readContains({ parts, schema, value, place }: Keyword): Assertion {
  const compiled = parts.schema(value, place);
  const { minContains: min = 1, maxContains: max = Infinity } = schema;
  if (!isCount(min) || !(isCount(max) || max === Infinity))
    throw new UnusableSchema(place, 'needs minContains and maxContains that are integers of at least 0');
  return (check, list, place) => {
    if (!Array.isArray(list)) return true;
    const found = list.filter((item) => check.holds(compiled, item, null)).length;
    const range = max === Infinity ? `at least ${min}` : `${min} to ${max}`;
    return (found >= min && found <= max) || check.report(place, `must have ${range} items that match contains`);
  };
}

function readRequired({ value, place }: Keyword): Assertion {
  const names = namesIn(value, place);
  const steps = names.length / 4 + names.join('').length / CHARACTERS_A_STEP;
  return (check, object, place) => {
    if (!isObject(object)) return true;
    check.spend(steps);
    return hasAll(check, object, names, place);
  };
}

function hasAll(check: Check, object: JsonValues, names: readonly string[], place: Place | null): boolean {
  return every(
    names,
    place,
    (name) =>
      Object.hasOwn(object, name) ||
      // Only for a message, since the name may be long.
      (place !== null && check.report(place, `must have the property ${shown(name)}`)),
  );
}

function readProperties({ parts, value, place }: Keyword): Assertion {
  const schemas = parts.map(value, place);
  return (check, object, place) => {
    if (!isObject(object)) return true;
    check.spend(schemas.length / 4);
    return every(
      schemas,
      place,
      ([name, schema]) => !Object.hasOwn(object, name) || check.holds(schema, object[name], at(place, name)),
    );
  };
}

function readPatternProperties({ parts, value, place }: Keyword): Assertion {
  const schemas = parts.map(value, place).map(([source, schema]) => [parts.pattern(source, place), schema] as const);
  return (check, object, place) =>
    !isObject(object) ||
    every(namesOf(object, check), place, (name) =>
      every(
        schemas,
        place,
        ([expression, schema]) =>
          !isFound(expression, name, check) || check.holds(schema, object[name], at(place, name)),
      ),
    );
}

function readAdditionalProperties({ parts, schema, value, place }: Keyword): Assertion {
  const compiled = parts.schema(value, place);
  const listed = new Set(namesOf(schema['properties']));
  const patterns = namesOf(schema['patternProperties']).map((source) => parts.pattern(source, place));
  return (check, object, place) =>
    !isObject(object) ||
    every(namesOf(object, check), place, (name) => {
      if (listed.has(name) || patterns.some((pattern) => isFound(pattern, name, check))) return true;
      return check.holds(compiled, object[name], at(place, name));
    });
}

function readPropertyNames({ parts, value, place }: Keyword): Assertion {
  const compiled = parts.schema(value, place);
  return (check, object, place) =>
    !isObject(object) || every(namesOf(object, check), place, (name) => check.holds(compiled, name, at(place, name)));
}

function readDependencies({ parts, value, place }: Keyword): Assertion {
  if (!isObject(value)) throw new UnusableSchema(place, 'must be an object');
  const dependencies = Object.entries(value).map(([name, needed]): [string, CompiledSchema] => {
    const each = { parent: place, name };
    if (!Array.isArray(needed)) return [name, parts.schema(needed, each)];
    return [name, { assertions: [readRequired({ parts, schema: {}, value: needed, place: each })] }];
  });
  return (check, object, place) => {
    if (!isObject(object)) return true;
    check.spend(dependencies.length);
    return every(
      dependencies,
      place,
      ([name, schema]) => !Object.hasOwn(object, name) || check.holds(schema, object, place),
    );
  };
}

function readAllOf({ parts, value, place }: Keyword): Assertion {
  const schemas = parts.list(value, place);
  return (check, value, place) => every(schemas, place, (schema) => check.holds(schema, value, place));
}

function readAnyOf({ parts, value, place }: Keyword): Assertion {
  const schemas = parts.list(value, place);
  return (check, value, place) =>
    schemas.some((schema) => check.holds(schema, value, null)) ||
    check.report(place, `must match at least one of the ${schemas.length} schemas of anyOf`);
}

function readOneOf({ parts, value, place }: Keyword): Assertion {
  const schemas = parts.list(value, place);
  return (check, value, place) => {
    const found = schemas.filter((schema) => check.holds(schema, value, null)).length;
    const problem = `must match exactly one of the ${schemas.length} schemas of oneOf, and matches ${found}`;
    return found === 1 || check.report(place, problem);
  };
}

function readNot({ parts, value, place }: Keyword): Assertion {
  const schema = parts.schema(value, place);
  return (check, value, place) => !check.holds(schema, value, null) || check.report(place, 'must not match not');
}

function readIf({ parts, schema, value, place }: Keyword): Assertion {
  const condition = parts.schema(value, place);
  const branch = (name: 'then' | 'else') => parts.schema(schema[name] ?? true, { parent: place.parent, name });
  const [met, unmet] = [branch('then'), branch('else')];
  return (check, value, place) => check.holds(check.holds(condition, value, null) ? met : unmet, value, place);
}

function readReference({ parts, value, place }: Keyword): Assertion {
  const target = parts.reference(value, place);
  return (check, value, place) => check.holds(target(), value, place);
}

/** Schemas that demand nothing where they stand, and are read since others refer to them. */
const readSchema: ReadKeyword = ({ parts, value, place }) => void parts.schema(value, place);
const readSchemas: ReadKeyword = ({ parts, value, place }) => void parts.map(value, place);

/** Keywords that are not listed are notes. */
export const KEYWORDS: ReadonlyMap<string, ReadKeyword> = new Map<string, ReadKeyword>([
  ['type', readType],
  ['enum', readEnum],
  ['const', readConst],
  ['minimum', bound('must be at least', (value, limit) => value >= limit)],
  ['maximum', bound('must be at most', (value, limit) => value <= limit)],
  ['exclusiveMinimum', bound('must be greater than', (value, limit) => value > limit)],
  ['exclusiveMaximum', bound('must be less than', (value, limit) => value < limit)],
  ['multipleOf', readMultipleOf],
  ['minLength', size('characters', 'least', characters)],
  ['maxLength', size('characters', 'most', characters)],
  ['pattern', readPattern],
  ['format', readFormat],
  ['minItems', size('items', 'least', items)],
  ['maxItems', size('items', 'most', items)],
  ['prefixItems', ({ parts, value, place }) => prefix(parts.list(value, place))],
  ['items', readItems],
  ['additionalItems', readAdditionalItems],
  ['uniqueItems', readUniqueItems],
  ['contains', readContains],
  ['minProperties', size('properties', 'least', properties)],
  ['maxProperties', size('properties', 'most', properties)],
  ['required', readRequired],
  ['properties', readProperties],
  ['patternProperties', readPatternProperties],
  ['additionalProperties', readAdditionalProperties],
  ['propertyNames', readPropertyNames],
  ['dependencies', readDependencies],
  ['dependentRequired', readDependencies],
  ['dependentSchemas', readDependencies],
  ['allOf', readAllOf],
  ['anyOf', readAnyOf],
  ['oneOf', readOneOf],
  ['not', readNot],
  ['if', readIf],
  ['then', readSchema],
  ['else', readSchema],
  ['$ref', readReference],
  ['$defs', readSchemas],
  ['definitions', readSchemas],
]);

function at(parent: Place | null, name: string | number): Place | null {
  return parent && { parent, name };
}

/** Whether all hold. Stops at the first that does not where nothing is reported. */
function every<Item>(
  list: readonly Item[],
  place: Place | null,
  holds: (item: Item, index: number) => boolean,
): boolean {
  if (place === null) return list.every(holds);
  let all = true;
  list.forEach((item, index) => {
    if (!holds(item, index)) all = false;
  });
  return all;
}

function namesOf(value: unknown, check?: Check): readonly string[] {
  if (!isObject(value)) return [];
  const names = Object.keys(value);
  check?.spend(names.length);
  return names;
}

function namesIn(value: unknown, place: Place): readonly string[] {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string'))
    throw new UnusableSchema(place, 'must be a list of strings');
  return value;
}
