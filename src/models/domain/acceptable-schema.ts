import { isJsonObject } from './json-object.js';
import type { JsonObject } from './model-runtime.js';

const MAX_SCHEMA_BYTES = 262_144;
/** Schemas and keywords in one tool's schema. Checking each takes time, and no real tool has so many. */
const MAX_SCHEMA_PARTS = 5_000;
/** Nested schemas. */
export const MAX_SCHEMA_DEPTH = 32;
const MAX_PATTERN = 1_000;

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
/** What providers accept as the name of an argument. */
const ARGUMENT_NAME = /^[\w.-]{1,64}$/;
const ONE_SCHEMA = [
  ...['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'additionalProperties', 'additionalItems'],
  ...['unevaluatedProperties', 'unevaluatedItems', 'contentSchema'],
];
const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const SCHEMA_MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
/** Providers refuse them beside `type: object`. */
const TOP_LEVEL_COMBINATIONS = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const'];

/** Keywords that contain no schemas. One whose value is not valid is dropped. */
const VALUE_RULES = new Map<string, (value: unknown) => boolean>([
  ...rule(
    (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
    ...['minContains', 'maxContains'],
  ),
  ...rule((value) => typeof value === 'number', ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']),
  ...rule(
    (value) => typeof value === 'string',
    ...['title', 'description', 'format', 'contentEncoding', 'contentMediaType', '$ref'],
  ),
  ...rule((value) => typeof value === 'boolean', 'uniqueItems', 'readOnly', 'writeOnly', 'deprecated'),
  ...rule(isType, 'type'),
  ...rule(isList, 'enum'),
  ...rule(Array.isArray, 'examples'),
  ...rule((value) => typeof value === 'number' && value > 0, 'multipleOf'),
  ...rule((value) => typeof value === 'string' && isPattern(value), 'pattern'),
  // All but the last two would change the dialect, or the addresses that `$ref` is checked against.
  ...rule(
    () => false,
    ...['$schema', '$id', 'id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'],
    ...['$vocabulary', '$comment', 'dependentRequired', '__proto__'],
  ),
]);

function rule(isValid: (value: unknown) => boolean, ...keywords: string[]) {
  return keywords.map((keyword) => [keyword, isValid] as const);
}

/** The schema cannot be offered to a model. */
class Unacceptable extends Error {}

/**
 * A tool's schema as providers accept it: of type `object`, without invalid keywords, because one of them makes a provider refuse the
 * whole request. Undefined if too little would remain, or if the schema is too large or too deep. Patterns are compiled, never run.
 */
export function acceptableSchema(schema: JsonObject): JsonObject | undefined {
  try {
    if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) return undefined;
    const repair = new SchemaRepair();
    const root = repair.schema(schema, 0);
    if (!isJsonObject(root) || root['type'] !== 'object') return undefined;
    return withoutDanglingReferences(withArguments(withoutCombinations(root)), repair.schemas);
  } catch (error) {
    // The stack overflows if the schema is nested too deeply.
    if (error instanceof Unacceptable || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Repairs the schemas of one document. */
class SchemaRepair {
  /** The repaired schemas. */
  readonly schemas = new Set<unknown>();
  private parts = 0;

  schema(schema: unknown, depth: number): JsonObject | boolean {
    if (typeof schema === 'boolean') return schema;
    if (!isJsonObject(schema)) return true;
    const keywords = Object.entries(schema);
    this.count(1 + keywords.length);
    if (depth > MAX_SCHEMA_DEPTH) throw new Unacceptable();
    const entries = keywords
      .map(([keyword, value]) => [keyword, this.keyword(keyword, value, depth + 1)] as const)
      .filter(([, value]) => value !== undefined);
    const repaired = Object.fromEntries(withListItems(entries));
    this.schemas.add(repaired);
    return repaired;
  }

  /** @returns undefined for an invalid keyword */
  private keyword(keyword: string, value: unknown, depth: number): unknown {
    if (ONE_SCHEMA.includes(keyword)) return isSchema(value) ? this.schema(value, depth) : undefined;
    if (SCHEMA_LISTS.includes(keyword)) {
      return isList(value) && value.every(isSchema) ? value.map((each) => this.schema(each, depth)) : undefined;
    }
    if (SCHEMA_MAPS.includes(keyword)) return isJsonObject(value) ? this.map(keyword, value, depth) : undefined;
    switch (keyword) {
      case 'items':
        // A list of schemas is `prefixItems` of an older dialect.
        return isSchema(value) ? this.schema(value, depth) : {};
      case 'required':
        return Array.isArray(value) ? namesOf(value) : undefined;
      case 'dependencies':
        return isJsonObject(value) ? this.dependencies(value, depth) : undefined;
      default:
        if (VALUE_RULES.get(keyword)?.(value) === false) return undefined;
        return typeof value === 'string' ? value.toWellFormed() : value;
    }
  }

  private map(keyword: string, map: JsonObject, depth: number): JsonObject {
    const named = Object.entries(map);
    this.count(named.length);
    const entries = named.filter(
      ([name, schema]) =>
        isSchema(schema) && name !== '__proto__' && (keyword !== 'patternProperties' || isPattern(name)),
    );
    return Object.fromEntries(entries.map(([name, schema]) => [name, this.schema(schema, depth)]));
  }

  /** `dependencies` of an older dialect: for each argument a schema, or the names of other arguments that it needs. */
  private dependencies(map: JsonObject, depth: number): JsonObject {
    const names = Object.entries(map).flatMap(([name, needed]) =>
      Array.isArray(needed) && name !== '__proto__' ? [[name, namesOf(needed)] as const] : [],
    );
    return { ...this.map('dependencies', map, depth), ...Object.fromEntries(names) };
  }

  private count(parts: number): void {
    this.parts += parts;
    if (this.parts > MAX_SCHEMA_PARTS) throw new Unacceptable();
  }
}

function namesOf(list: readonly unknown[]): string[] {
  return [...new Set(list.filter((name) => typeof name === 'string'))];
}

/** Some providers refuse an array without `items`. */
function withListItems(entries: readonly (readonly [string, unknown])[]): readonly (readonly [string, unknown])[] {
  const has = (keyword: string): boolean => entries.some(([name]) => name === keyword);
  const isArray = entries.some(
    ([name, value]) => name === 'type' && (value === 'array' || (isList(value) && value.includes('array'))),
  );
  return isArray && !has('items') && !has('prefixItems') ? [...entries, ['items', {}]] : entries;
}

/** The properties of the alternatives become optional properties of the whole schema. */
function withoutCombinations(root: JsonObject): JsonObject {
  const members = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => (isList(root[keyword]) ? root[keyword] : []));
  const properties = [...members, root].flatMap((member) =>
    isJsonObject(member) && isJsonObject(member['properties']) ? Object.entries(member['properties']) : [],
  );
  const kept = Object.entries(root).filter(
    ([keyword]) => !TOP_LEVEL_COMBINATIONS.includes(keyword) && keyword !== '$ref',
  );
  return { ...Object.fromEntries(kept), properties: Object.fromEntries(properties) };
}

/** Drops optional arguments whose names providers refuse. */
function withArguments(root: JsonObject): JsonObject {
  const properties = isJsonObject(root['properties']) ? root['properties'] : {};
  const required = Array.isArray(root['required']) ? root['required'].map(String) : [];
  if (required.some((name) => !ARGUMENT_NAME.test(name))) throw new Unacceptable();
  const { required: _required, ...kept } = root;
  return {
    ...kept,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => ARGUMENT_NAME.test(name))),
    ...(required.length > 0 && { required }),
  };
}

/** Runs after all repairs, each of which may have removed the target of a reference. */
function withoutDanglingReferences(root: JsonObject, schemas: ReadonlySet<unknown>): JsonObject {
  for (const schema of schemas) {
    if (!isJsonObject(schema) || typeof schema['$ref'] !== 'string' || leadsTo(root, schema['$ref'], schemas)) continue;
    // Safe to mutate: `SchemaRepair` has just created the object.
    delete (schema as Record<string, unknown>)['$ref'];
  }
  return root;
}

/** Whether a reference leads to a schema of this document, not to another value, such as a default. */
function leadsTo(root: JsonObject, reference: string, schemas: ReadonlySet<unknown>): boolean {
  if (reference === '#') return true;
  if (!reference.startsWith('#/')) return false;
  const path = reference.slice(2).split('/').map(pointerPart);
  let part: unknown = root;
  for (const name of path) {
    if (name === undefined || !(isJsonObject(part) || Array.isArray(part)) || !Object.hasOwn(part, name)) return false;
    part = (part as JsonObject)[name];
  }
  return typeof part === 'boolean' || schemas.has(part);
}

function pointerPart(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

function isType(value: unknown): boolean {
  const names = Array.isArray(value) ? value : [value];
  return (
    names.length > 0 && new Set(names).size === names.length && names.every((name) => TYPES.includes(name as string))
  );
}

function isPattern(pattern: string): boolean {
  if (pattern.length > MAX_PATTERN) return false;
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

function isSchema(value: unknown): value is JsonObject | boolean {
  return typeof value === 'boolean' || isJsonObject(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}
