import { invalid } from './problems.js';

export type Fields = Readonly<Partial<Record<string, unknown>>>;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** The readers below throw a `Refusal` that names the field. */
export function readRecord(value: unknown, name: string): Fields {
  if (isRecord(value)) return value;
  throw invalid(`${name} must be an object.`);
}

export function readList(value: unknown, name: string, max: number): readonly unknown[] {
  if (Array.isArray(value) && value.length <= max) return value;
  throw invalid(`${name} must be a list of at most ${max}.`);
}

export function readText(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw invalid(`${name} must be a string.`);
}

export function readUuid(value: unknown, name: string): string {
  if (isUuid(value)) return value.toLowerCase();
  throw invalid(`${name} must be a UUID.`);
}

/** For optional fields: `{name: value}`, or nothing to spread. */
export function optional<Value>(
  name: string,
  value: unknown,
  read: (value: unknown, name: string) => Value,
): Readonly<Record<string, Value>> {
  return value === undefined ? {} : { [name]: read(value, name) };
}
