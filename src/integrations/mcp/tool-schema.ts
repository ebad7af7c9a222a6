import type { JsonObject } from '../../models/index.js';
import { MAX_PATTERN, MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_SCHEMA_PARTS } from './mcp-limits.js';

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
/** What providers take as the name of an argument. */
const ARGUMENT_NAME = /^[\w.-]{1,64}$/;
/** They would give parts other addresses than the ones `$ref` is checked against, or another dialect. */
const DROPPED = [
  '$schema',
  '$id',
  'id',
  '$anchor',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  '$vocabulary',
  '$comment',
];
const ONE_SCHEMA = [
  ...['not', 'if', 'then', 'else', 'contains', 'propertyNames', 'additionalProperties', 'additionalItems'],
  ...['unevaluatedProperties', 'unevaluatedItems', 'contentSchema'],
];
const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const SCHEMA_MAPS = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const COUNTS = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minContains',
  'maxContains',
];
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
const TEXTS = ['title', 'description', 'format', 'contentEncoding', 'contentMediaType'];
/** Providers refuse them beside `type: object`. */
const TOP_LEVEL_COMBINATIONS = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const'];

/** The schema cannot be offered to a model. */
class Unacceptable extends Error {}

/**
 * A tool's schema as providers take it: of type `object`, every keyword of the form that JSON Schema gives it. Keywords that are
 * wrong are left out, since one of them makes a provider refuse the whole request; undefined when too little would be left,
 * or the schema is too large or too deep. Patterns are looked at, never run.
 */
export function acceptableSchema(schema: JsonObject): JsonObject | undefined {
  try {
    if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) return undefined;
    const document: Document = { schemas: new Set(), parts: 0 };
    const root = repairedSchema(schema, document, 0);
    if (!isObject(root) || root['type'] !== 'object') return undefined;
    return withoutDanglingReferences(withArguments(withoutCombinations(root)), document);
  } catch (error) {
    // A stack overflow says the same: nested too deeply.
    if (error instanceof Unacceptable || error instanceof RangeError) return undefined;
    throw error;
  }
}

/** What is being checked, and how much of it has been. */
interface Document {
  /** The schemas after their repair. */
  readonly schemas: Set<unknown>;
  parts: number;
}

function repairedSchema(schema: unknown, document: Document, depth: number): JsonObject | boolean {
  if (typeof schema === 'boolean') return schema;
  if (!isObject(schema)) return true;
  const keywords = Object.entries(schema);
  document.parts += 1 + keywords.length;
  if (depth > MAX_SCHEMA_DEPTH || document.parts > MAX_SCHEMA_PARTS) throw new Unacceptable();
  const entries = keywords.flatMap(([keyword, value]) => {
    const repaired = repairedKeyword(keyword, value, document, depth);
    return repaired === undefined ? [] : [[keyword, repaired] as const];
  });
  const repaired = Object.fromEntries(withListItems(entries));
  document.schemas.add(repaired);
  return repaired;
}

/** @returns undefined where the keyword has to go */
function repairedKeyword(keyword: string, value: unknown, document: Document, depth: number): unknown {
  const inner = (schema: unknown): JsonObject | boolean => repairedSchema(schema, document, depth + 1);
  if (DROPPED.includes(keyword) || keyword === '__proto__') return undefined;
  if (ONE_SCHEMA.includes(keyword)) return isSchema(value) ? inner(value) : undefined;
  if (SCHEMA_LISTS.includes(keyword)) return isList(value) && value.every(isSchema) ? value.map(inner) : undefined;
  if (SCHEMA_MAPS.includes(keyword)) return isObject(value) ? schemaMap(keyword, value, document, inner) : undefined;
  if (COUNTS.includes(keyword)) return Number.isSafeInteger(value) && Number(value) >= 0 ? value : undefined;
  if (NUMBERS.includes(keyword)) return typeof value === 'number' ? value : undefined;
  if (TEXTS.includes(keyword)) return typeof value === 'string' ? value.toWellFormed() : undefined;
  switch (keyword) {
    case 'type':
      return isType(value) ? value : undefined;
    case 'items':
      // A list of schemas is an older dialect's `prefixItems`.
      return isSchema(value) ? inner(value) : {};
    case '$ref':
      return typeof value === 'string' ? value : undefined;
    case 'required':
      return Array.isArray(value) ? namesOf(value) : undefined;
    case 'dependencies':
      return isObject(value) ? dependencies(value, document, inner) : undefined;
    case 'examples':
      return Array.isArray(value) ? value : undefined;
    case 'dependentRequired':
      return undefined;
    case 'enum':
      return isList(value) ? value : undefined;
    case 'multipleOf':
      return typeof value === 'number' && value > 0 ? value : undefined;
    case 'uniqueItems':
    case 'readOnly':
    case 'writeOnly':
    case 'deprecated':
      return typeof value === 'boolean' ? value : undefined;
    case 'pattern':
      return typeof value === 'string' && isPattern(value) ? value : undefined;
    default:
      return value;
  }
}

function schemaMap(
  keyword: string,
  map: JsonObject,
  document: Document,
  inner: (schema: unknown) => JsonObject | boolean,
): JsonObject {
  const named = Object.entries(map);
  document.parts += named.length;
  if (document.parts > MAX_SCHEMA_PARTS) throw new Unacceptable();
  const entries = named.filter(
    ([name, schema]) =>
      isSchema(schema) && name !== '__proto__' && (keyword !== 'patternProperties' || isPattern(name)),
  );
  return Object.fromEntries(entries.map(([name, schema]) => [name, inner(schema)]));
}

/** `dependencies` of an older dialect: for each argument a schema, or the names of other arguments that it needs. */
function dependencies(
  map: JsonObject,
  document: Document,
  inner: (schema: unknown) => JsonObject | boolean,
): JsonObject {
  const schemas = schemaMap('dependencies', map, document, inner);
  const names = Object.entries(map).filter(([name, needed]) => Array.isArray(needed) && name !== '__proto__');
  return { ...schemas, ...Object.fromEntries(names.map(([name, needed]) => [name, namesOf(needed as unknown[])])) };
}

function namesOf(list: readonly unknown[]): string[] {
  return [...new Set(list.filter((name) => typeof name === 'string'))];
}

/** Some providers refuse an array whose items nobody describes. */
function withListItems(entries: readonly (readonly [string, unknown])[]): readonly (readonly [string, unknown])[] {
  const has = (keyword: string): boolean => entries.some(([name]) => name === keyword);
  const isArray = entries.some(
    ([name, value]) => name === 'type' && (value === 'array' || (isList(value) && value.includes('array'))),
  );
  return isArray && !has('items') && !has('prefixItems') ? [...entries, ['items', {}]] : entries;
}

/** The alternatives' properties become optional ones of the whole. */
function withoutCombinations(root: JsonObject): JsonObject {
  const members = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => (isList(root[keyword]) ? root[keyword] : []));
  const properties = [...members, root].flatMap((member) =>
    isObject(member) && isObject(member['properties']) ? Object.entries(member['properties']) : [],
  );
  const kept = Object.entries(root).filter(
    ([keyword]) => !TOP_LEVEL_COMBINATIONS.includes(keyword) && keyword !== '$ref',
  );
  return { ...Object.fromEntries(kept), properties: Object.fromEntries(properties) };
}

/** Leaves out optional arguments whose names providers refuse. */
function withArguments(root: JsonObject): JsonObject {
  const properties = isObject(root['properties']) ? root['properties'] : {};
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
function withoutDanglingReferences(root: JsonObject, { schemas }: Document): JsonObject {
  for (const schema of schemas) {
    if (!isObject(schema) || typeof schema['$ref'] !== 'string' || leadsTo(root, schema['$ref'], schemas)) continue;
    // Safe to mutate: `repairedSchema` has just made the object.
    delete (schema as Record<string, unknown>)['$ref'];
  }
  return root;
}

/** Whether a reference leads to a schema of this document, and not to a value that only looks like one, such as a default. */
function leadsTo(root: JsonObject, reference: string, schemas: ReadonlySet<unknown>): boolean {
  if (reference === '#') return true;
  if (!reference.startsWith('#/')) return false;
  const path = reference.slice(2).split('/').map(pointerPart);
  let part: unknown = root;
  for (const name of path) {
    if (name === undefined || !(isObject(part) || Array.isArray(part)) || !Object.hasOwn(part, name)) return false;
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
  return typeof value === 'boolean' || isObject(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
