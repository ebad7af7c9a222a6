import { isUuid } from '../ids/index.js';
import type { Rule } from './declared-field.js';
import { isJsonObject } from './read-dto.js';

/** Lengths in Unicode code points, the way the interface counts characters. */
export interface TextBounds {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
}

export interface NumberBounds {
  readonly min?: number;
  readonly max?: number;
}

export function textRule({ min = 0, max = Infinity, pattern }: TextBounds): Rule {
  const wanted = `must be a string${textRange(min, max)}`;
  return (value) => {
    if (typeof value !== 'string' || !hasCodePoints(value, min, max)) return wanted;
    return pattern === undefined || pattern.test(value) ? undefined : `must match ${String(pattern)}`;
  };
}

export function numberRule({ min = -Infinity, max = Infinity }: NumberBounds, kind: 'number' | 'integer'): Rule {
  const wanted = `must be ${kind === 'integer' ? 'an integer' : 'a number'}${numberRange(min, max)}`;
  return (value) => {
    const fits = kind === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
    return fits && (value as number) >= min && (value as number) <= max ? undefined : wanted;
  };
}

export function enumRule(values: readonly string[]): Rule {
  const wanted = values.length === 1 ? `must be '${values[0] ?? ''}'` : `must be one of ${values.join(', ')}`;
  return (value) => (typeof value === 'string' && values.includes(value) ? undefined : wanted);
}

export const uuidRule: Rule = (value) => (isUuid(value) ? undefined : 'must be a UUID');

export const booleanRule: Rule = (value) => (typeof value === 'boolean' ? undefined : 'must be a boolean');

export const objectRule: Rule = (value) => (isJsonObject(value) ? undefined : 'must be an object');

export const timestampRule: Rule = (value) =>
  typeof value === 'string' && isTimestamp(value)
    ? undefined
    : 'must be an ISO 8601 date and time with an offset, such as 2025-01-31T09:30:00Z';

export function urlRule(protocols: readonly string[], longest: number): Rule {
  const wanted = `must be an absolute ${protocols.join(' or ')} URL of at most ${longest} characters`;
  return (value) => {
    const url = typeof value === 'string' && value.length <= longest ? URL.parse(value) : null;
    return url && protocols.includes(url.protocol.slice(0, -1)) ? undefined : wanted;
  };
}

export interface ListBounds {
  readonly min?: number;
  readonly max?: number;
  /** Refuses a value that is there twice. */
  readonly unique?: boolean;
}

export function listRule(element: Rule, { min = 0, max = Infinity, unique = false }: ListBounds): Rule {
  const wanted = `must be an array${itemRange(min, max)}`;
  return (value) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) return wanted;
    for (const [index, item] of value.entries()) {
      const complaint = element(item);
      if (complaint !== undefined) return `/${index}${complaint.startsWith('/') ? '' : ' '}${complaint}`;
    }
    return unique && new Set(value).size !== value.length ? 'must not contain a value twice' : undefined;
  };
}

/** Every element is judged where it is read; this is about the list alone. */
export function listOfObjectsRule(bounds: ListBounds): Rule {
  return listRule(objectRule, bounds);
}

export interface MapBounds {
  readonly maxEntries?: number;
  readonly maxKeyLength?: number;
  readonly maxValueLength?: number;
}

export function stringMapRule({ maxEntries = Infinity, maxKeyLength = 255, maxValueLength = 10_000 }: MapBounds): Rule {
  return mapRule('must be an object of strings', maxEntries, maxKeyLength, textRule({ max: maxValueLength }));
}

/** Strings, finite numbers and booleans by name. */
export function scalarMapRule({ maxEntries = Infinity, maxKeyLength = 255, maxValueLength = 10_000 }: MapBounds): Rule {
  const isText = textRule({ max: maxValueLength });
  return mapRule('must be an object of strings, numbers and booleans', maxEntries, maxKeyLength, (item) =>
    typeof item === 'boolean' || Number.isFinite(item) || isText(item) === undefined
      ? undefined
      : `must be a string of at most ${maxValueLength} characters, a number or a boolean`,
  );
}

/** The variants' own fields are judged where they are read; this is about the discriminator. */
export function unionRule(discriminator: string, allowed: readonly string[]): Rule {
  const isAllowed = enumRule(allowed);
  return (value) => {
    if (!isJsonObject(value)) return 'must be an object';
    const complaint = isAllowed(value[discriminator]);
    return complaint === undefined ? undefined : `/${discriminator} ${complaint}`;
  };
}

function mapRule(wanted: string, maxEntries: number, maxKeyLength: number, item: Rule): Rule {
  return (value) => {
    if (!isJsonObject(value)) return wanted;
    if (Object.keys(value).length > maxEntries) return `must have at most ${maxEntries} entries`;
    for (const [key, entry] of Object.entries(value)) {
      if (!hasCodePoints(key, 1, maxKeyLength)) return `must have keys of 1 to ${maxKeyLength} characters`;
      const complaint = item(entry);
      if (complaint !== undefined) return `/${key} ${complaint}`;
    }
    return undefined;
  };
}

/** A string has at most as many code points as code units, and at least half as many: most need no counting. */
function hasCodePoints(text: string, min: number, max: number): boolean {
  if (text.length < min) return false;
  if (text.length <= max && text.length >= 2 * min) return true;
  if (text.length > 2 * max) return false;
  let count = 0;
  for (const _ of text) count += 1;
  return count >= min && count <= max;
}

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

function isTimestamp(text: string): boolean {
  const [, year, month, day] = TIMESTAMP.exec(text) ?? [];
  if (year === undefined || Number.isNaN(Date.parse(text))) return false;
  // `Date` takes 30 February for 2 March.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1;
}

function textRange(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? '' : ` of at least ${min} ${plural(min, 'character')}`;
  return min === 0 ? ` of at most ${max} ${plural(max, 'character')}` : ` of ${min} to ${max} characters`;
}

function numberRange(min: number, max: number): string {
  if (max === Infinity) return min === -Infinity ? '' : ` of at least ${min}`;
  return min === -Infinity ? ` of at most ${max}` : ` from ${min} to ${max}`;
}

function itemRange(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? '' : ` of at least ${min} ${plural(min, 'item')}`;
  return min === 0 ? ` of at most ${max} ${plural(max, 'item')}` : ` of ${min} to ${max} items`;
}

function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}
