import type { JsonObject } from '../../models/index.js';
import { BudgetExhausted, isObject, StepBudget } from './step-budget.js';

/** Schemas in schemas, references followed, values in values: of an interpreter that calls itself. */
const MAX_DEPTH = 100;

/** Characters of a path that are shown, and of a name in it. */
const MAX_SHOWN_PATH = 300;
const MAX_SHOWN_NAME = 80;

/**
 * Whether arguments that a hook gives a tool fit the tool's JSON Schema (2020-12, as far as drafts 6 and 7 agree).
 *
 * The schema is a stranger's, who may write references in circles, alternatives that double at each level and expressions that never end. The known
 * validators have no bound on the steps they take (one compiles schemas to code, at that), and the event loop of everybody waits meanwhile: hence this
 * interpreter, which counts them. It never refuses what it cannot decide, since the tool's server checks for itself; the check is there so that a hook's
 * mistake is told as one.
 *
 * @returns the first way in which `input` does not fit, by its path (`/items/0/name must be a string`); null where it fits, or where that cannot be
 *   decided: within the steps of a call, or at all
 */
export function inputFault(schema: JsonObject, input: JsonObject): string | null {
  try {
    const verdict = new SchemaCheck(schema).check(schema, input, null, MAX_DEPTH);
    return typeof verdict === 'object' ? `${shown(verdict.place)} ${verdict.problem}` : null;
  } catch (error) {
    if (error instanceof BudgetExhausted) return null;
    throw error;
  }
}

/** The way to a value, from the last name to the first. */
type Place = { readonly name: string | number; readonly in: Place } | null;

interface Fault {
  readonly place: Place;
  /** Reads on from the path: `must be a string`. */
  readonly problem: string;
}

/** `unknown` fits as little as it does not: `not` of it is `unknown`. */
type Verdict = 'fits' | 'unknown' | Fault;

/** They assert something, or may: what they say is not known here. */
const UNDECIDED_KEYWORDS = [
  ...['contains', 'propertyNames', 'dependentRequired', 'dependentSchemas', 'dependencies', 'additionalItems'],
  ...[
    'unevaluatedItems',
    'unevaluatedProperties',
    'format',
    '$dynamicRef',
    '$recursiveRef',
    'extends',
    'disallow',
    'divisibleBy',
  ],
];

const OLDER_DIALECT = /draft-0[3-7]/;

class SchemaCheck {
  private readonly budget = new StepBudget();
  /** In older dialects what stands beside a `$ref` says nothing. */
  private readonly refsStandAlone: boolean;

  constructor(private readonly root: JsonObject) {
    const dialect = own(root, '$schema');
    this.refsStandAlone = typeof dialect === 'string' && OLDER_DIALECT.test(dialect.slice(0, MAX_SHOWN_PATH));
  }

  check(schema: unknown, value: unknown, place: Place, depth: number): Verdict {
    this.budget.take(1);
    if (schema === true) return 'fits';
    if (schema === false) return { place, problem: 'is not allowed' };
    if (!isObject(schema) || depth === 0) return 'unknown';
    // References in it would lead elsewhere.
    if (schema !== this.root && Object.hasOwn(schema, '$id')) return 'unknown';
    return firstFault(this.assertions(schema, value, place, depth - 1));
  }

  /** Lazily, so that what follows a fault takes no steps. */
  private *assertions(schema: JsonObject, value: unknown, place: Place, depth: number): Iterable<Verdict> {
    const reference = own(schema, '$ref');
    if (reference !== undefined) {
      const target = this.target(reference);
      yield target === undefined ? 'unknown' : this.check(target, value, place, depth);
      if (this.refsStandAlone) return;
    }
    yield typeFault(schema, value, place);
    yield this.constantFault(schema, value, place, depth);
    if (typeof value === 'number') yield* numberFaults(value, schema, place);
    else if (typeof value === 'string') yield* this.stringFaults(value, schema, place);
    else if (Array.isArray(value)) yield* this.arrayFaults(value, schema, place, depth);
    else if (isObject(value)) yield* this.objectFaults(value, schema, place, depth);
    yield* this.combinations(schema, value, place, depth);
    if (UNDECIDED_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))) yield 'unknown';
  }

  private *combinations(schema: JsonObject, value: unknown, place: Place, depth: number): Iterable<Verdict> {
    const all = own(schema, 'allOf');
    if (Array.isArray(all)) for (const each of all) yield this.check(each, value, place, depth);
    else if (all !== undefined) yield 'unknown';
    yield this.anyFault(own(schema, 'anyOf'), value, place, depth);
    yield this.oneFault(own(schema, 'oneOf'), value, place, depth);
    const not = own(schema, 'not');
    if (not !== undefined)
      yield opposite(this.check(not, value, place, depth), { place, problem: 'must not be what its schema rules out' });
    const condition = own(schema, 'if');
    if (condition === undefined) return;
    const holds = this.check(condition, value, place, depth);
    if (holds === 'unknown') yield 'unknown';
    else {
      const consequence = own(schema, holds === 'fits' ? 'then' : 'else');
      if (consequence !== undefined) yield this.check(consequence, value, place, depth);
    }
  }

  private anyFault(schemas: unknown, value: unknown, place: Place, depth: number): Verdict {
    if (schemas === undefined) return 'fits';
    if (!Array.isArray(schemas)) return 'unknown';
    let isUnknown = false;
    for (const each of schemas) {
      const verdict = this.check(each, value, place, depth);
      if (verdict === 'fits') return 'fits';
      isUnknown ||= verdict === 'unknown';
    }
    return isUnknown ? 'unknown' : { place, problem: 'must fit at least one of the alternatives of its schema' };
  }

  private oneFault(schemas: unknown, value: unknown, place: Place, depth: number): Verdict {
    if (schemas === undefined) return 'fits';
    if (!Array.isArray(schemas)) return 'unknown';
    const fault = { place, problem: 'must fit exactly one of the alternatives of its schema' };
    let fitting = 0;
    let isUnknown = false;
    for (const each of schemas) {
      const verdict = this.check(each, value, place, depth);
      if (verdict === 'fits') fitting += 1;
      if (fitting > 1) return fault;
      isUnknown ||= verdict === 'unknown';
    }
    if (isUnknown) return 'unknown';
    return fitting === 1 ? 'fits' : fault;
  }

  private constantFault(schema: JsonObject, value: unknown, place: Place, depth: number): Verdict {
    if (Object.hasOwn(schema, 'const') && !this.budget.areEqual(value, schema['const'], depth))
      return { place, problem: 'must be the constant of its schema' };
    const values = own(schema, 'enum');
    if (values === undefined) return 'fits';
    if (!Array.isArray(values)) return 'unknown';
    return values.some((each) => this.budget.areEqual(value, each, depth))
      ? 'fits'
      : { place, problem: 'must be one of the values that its schema lists' };
  }

  private *stringFaults(text: string, schema: JsonObject, place: Place): Iterable<Verdict> {
    const { min, max } = bounds(schema, 'minLength', 'maxLength');
    if (min > 0 && !this.budget.isLongerThan(text, min - 1))
      yield { place, problem: `must have at least ${min} characters` };
    if (max < Infinity && this.budget.isLongerThan(text, max))
      yield { place, problem: `must have at most ${max} characters` };
    yield boundsVerdict(schema, 'minLength', 'maxLength');
    const pattern = own(schema, 'pattern');
    if (pattern === undefined) return;
    const isMatch = typeof pattern === 'string' ? this.budget.isMatch(pattern, text) : undefined;
    if (isMatch === undefined) yield 'unknown';
    else if (!isMatch) yield { place, problem: 'must match the pattern of its schema' };
  }

  private *arrayFaults(items: readonly unknown[], schema: JsonObject, place: Place, depth: number): Iterable<Verdict> {
    const { min, max } = bounds(schema, 'minItems', 'maxItems');
    if (items.length < min) yield { place, problem: `must have at least ${min} items` };
    if (items.length > max) yield { place, problem: `must have at most ${max} items` };
    yield boundsVerdict(schema, 'minItems', 'maxItems');
    const of = own(schema, 'items');
    // A list there is what is `prefixItems` today.
    const prefix = Array.isArray(of) ? of : own(schema, 'prefixItems');
    const first = Array.isArray(prefix) ? prefix : [];
    if (prefix !== undefined && !Array.isArray(prefix)) yield 'unknown';
    else {
      for (const [index, item] of items.entries()) {
        const each: unknown = index < first.length ? first[index] : Array.isArray(of) ? undefined : of;
        if (each === undefined) break;
        yield this.check(each, item, { name: index, in: place }, depth);
      }
    }
    const unique = own(schema, 'uniqueItems');
    if (unique === true) yield this.repeatedItemFault(items, place, depth);
    else if (unique !== undefined && unique !== false) yield 'unknown';
  }

  private repeatedItemFault(items: readonly unknown[], place: Place, depth: number): Verdict {
    this.budget.take(items.length);
    const compound = items.filter((item) => typeof item === 'object' && item !== null);
    const isRepeated =
      new Set(items).size < items.length ||
      compound.some((item, index) =>
        compound.slice(0, index).some((other) => this.budget.areEqual(item, other, depth)),
      );
    return isRepeated ? { place, problem: 'must not have two equal items' } : 'fits';
  }

  private *objectFaults(value: JsonObject, schema: JsonObject, place: Place, depth: number): Iterable<Verdict> {
    const required = own(schema, 'required');
    if (Array.isArray(required)) yield* this.missingFaults(value, required, place);
    else if (required !== undefined) yield 'unknown';
    const { min, max } = bounds(schema, 'minProperties', 'maxProperties');
    if (min > 0 && this.budget.keysOf(value).length < min)
      yield { place, problem: `must have at least ${min} properties` };
    if (max < Infinity && this.budget.keysOf(value).length > max)
      yield { place, problem: `must have at most ${max} properties` };
    yield boundsVerdict(schema, 'minProperties', 'maxProperties');
    const properties = own(schema, 'properties') ?? {};
    const patterns = own(schema, 'patternProperties') ?? {};
    const others = own(schema, 'additionalProperties');
    if (!isObject(properties) || !isObject(patterns)) yield 'unknown';
    else if (
      ['properties', 'patternProperties', 'additionalProperties'].some((keyword) => Object.hasOwn(schema, keyword))
    ) {
      for (const key of this.budget.keysOf(value))
        yield* this.propertyFaults(key, value[key], { properties, patterns, others }, place, depth);
    }
  }

  private *missingFaults(value: JsonObject, required: readonly unknown[], place: Place): Iterable<Verdict> {
    for (const name of required) {
      this.budget.take(1);
      if (typeof name !== 'string') yield 'unknown';
      else if (!Object.hasOwn(value, name)) yield { place: { name, in: place }, problem: 'is required' };
    }
  }

  private *propertyFaults(
    key: string,
    value: unknown,
    { properties, patterns, others }: { properties: JsonObject; patterns: JsonObject; others: unknown },
    parent: Place,
    depth: number,
  ): Iterable<Verdict> {
    const place = { name: key, in: parent };
    this.budget.take(1);
    let isNamed = Object.hasOwn(properties, key);
    if (isNamed) yield this.check(properties[key], value, place, depth);
    for (const pattern of this.budget.keysOf(patterns)) {
      const isMatch = this.budget.isMatch(pattern, key);
      if (isMatch === true) yield this.check(patterns[pattern], value, place, depth);
      if (isMatch === undefined) yield 'unknown';
      isNamed ||= isMatch !== false;
    }
    if (!isNamed && others !== undefined) yield this.check(others, value, place, depth);
  }

  /** @returns undefined where it leads out of the document, or to nothing */
  private target(reference: unknown): unknown {
    if (typeof reference !== 'string' || reference.length > MAX_REFERENCE) return undefined;
    this.budget.take(1 + reference.length / REFERENCE_CHARACTERS_PER_STEP);
    if (reference === '#') return this.root;
    if (!reference.startsWith('#/')) return undefined;
    let part: unknown = this.root;
    for (const name of reference.slice(2).split('/').map(pointerPart)) {
      if (name === undefined || !(isObject(part) || Array.isArray(part)) || !Object.hasOwn(part, name))
        return undefined;
      part = (part as JsonObject)[name];
      // What is below another base is not this document's.
      if (isObject(part) && Object.hasOwn(part, '$id')) return undefined;
    }
    return part;
  }
}

/** Characters. */
const MAX_REFERENCE = 1_000;
const REFERENCE_CHARACTERS_PER_STEP = 20;

function pointerPart(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined;
  }
}

function firstFault(verdicts: Iterable<Verdict>): Verdict {
  let verdict: Verdict = 'fits';
  for (const each of verdicts) {
    if (typeof each === 'object') return each;
    if (each === 'unknown') verdict = each;
  }
  return verdict;
}

function opposite(verdict: Verdict, fault: Fault): Verdict {
  if (verdict === 'unknown') return verdict;
  return verdict === 'fits' ? fault : 'fits';
}

function own(schema: JsonObject, keyword: string): unknown {
  return Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
}

const TYPES: Readonly<Record<string, { readonly is: (value: unknown) => boolean; readonly name: string }>> = {
  string: { is: (value) => typeof value === 'string', name: 'a string' },
  number: { is: (value) => typeof value === 'number', name: 'a number' },
  integer: { is: Number.isInteger, name: 'an integer' },
  boolean: { is: (value) => typeof value === 'boolean', name: 'a boolean' },
  array: { is: Array.isArray, name: 'an array' },
  object: { is: isObject, name: 'an object' },
  null: { is: (value) => value === null, name: 'null' },
};

/** Of a list of types: there are seven, and no more are told. */
const MAX_TYPES = 20;

function typeFault(schema: JsonObject, value: unknown, place: Place): Verdict {
  const type = own(schema, 'type');
  if (type === undefined) return 'fits';
  // An extension of OpenAPI, which some servers write.
  if (value === null && own(schema, 'nullable') === true) return 'unknown';
  const names: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (names.length === 0 || names.length > MAX_TYPES) return 'unknown';
  const types = names.map((name) => (typeof name === 'string' && Object.hasOwn(TYPES, name) ? TYPES[name] : undefined));
  if (types.some((each) => each?.is(value) === true)) return 'fits';
  if (types.includes(undefined)) return 'unknown';
  return { place, problem: `must be ${types.map((each) => each?.name).join(' or ')}` };
}

function* numberFaults(value: number, schema: JsonObject, place: Place): Iterable<Verdict> {
  for (const [keyword, words, holds] of LIMITS) {
    const limit = own(schema, keyword);
    if (limit === undefined) continue;
    if (typeof limit !== 'number') yield 'unknown';
    else if (!holds(value, limit)) yield { place, problem: `must be ${words} ${limit}` };
  }
  const step = own(schema, 'multipleOf');
  if (step !== undefined) yield multipleVerdict(value, step, place);
}

const LIMITS: readonly (readonly [string, string, (value: number, limit: number) => boolean])[] = [
  ['minimum', 'at least', (value, limit) => value >= limit],
  ['maximum', 'at most', (value, limit) => value <= limit],
  ['exclusiveMinimum', 'more than', (value, limit) => value > limit],
  ['exclusiveMaximum', 'less than', (value, limit) => value < limit],
];

/** Of a quotient: nearer to an integer, what is binary of a decimal fraction may be what is missing. */
const ROUNDING = 1e-6;

function multipleVerdict(value: number, step: unknown, place: Place): Verdict {
  if (typeof step !== 'number' || !(step > 0)) return 'unknown';
  const quotient = value / step;
  if (Number.isSafeInteger(value) && Number.isSafeInteger(step) ? value % step === 0 : Number.isInteger(quotient))
    return 'fits';
  const isNear = Math.abs(quotient) > 1 / ROUNDING || Math.abs(quotient - Math.round(quotient)) < ROUNDING;
  if (isNear && !(Number.isSafeInteger(value) && Number.isSafeInteger(step))) return 'unknown';
  return { place, problem: `must be a multiple of ${step}` };
}

function bounds(schema: JsonObject, least: string, most: string): { readonly min: number; readonly max: number } {
  const [min, max] = [own(schema, least), own(schema, most)];
  return { min: isCount(min) ? min : 0, max: isCount(max) ? max : Infinity };
}

function boundsVerdict(schema: JsonObject, ...keywords: readonly string[]): Verdict {
  return keywords.every((keyword) => !Object.hasOwn(schema, keyword) || isCount(schema[keyword])) ? 'fits' : 'unknown';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function shown(place: Place): string {
  const names: string[] = [];
  for (let at = place; at; at = at.in)
    names.unshift(shortened(String(at.name), MAX_SHOWN_NAME).replaceAll('~', '~0').replaceAll('/', '~1'));
  return names.length === 0 ? 'the input' : shortened(`/${names.join('/')}`, MAX_SHOWN_PATH);
}

function shortened(text: string, length: number): string {
  const characters = [...text.slice(0, 2 * length)];
  return text.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}
