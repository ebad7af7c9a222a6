import { JsonType } from '@mikro-orm/core';

/**
 * Text that PostgreSQL accepts. Models and tools may send NUL characters and broken surrogate pairs, which `text` and `jsonb`
 * refuse; losing those is better than losing the message.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '');
}

/** How JSON writes what PostgreSQL refuses: U+0000 and half a surrogate pair. Also occurs in text that quotes such JSON. */
const MAYBE_UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/** JSON for a `jsonb` parameter in which all strings and names are storable. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  // A replacer makes it many times slower, and nearly all values are storable.
  if (!MAYBE_UNSTORABLE.test(json)) return json;
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner === 'string') return storableText(inner);
    return isObject(inner) && !Object.keys(inner).every(isStorable) ? withStorableNames(inner) : inner;
  });
}

/** A `jsonb` column of an entity, written by `storableJson`. */
export class StorableJson extends JsonType {
  override convertToDatabaseValue(value: unknown): string | null {
    return value === null || value === undefined ? null : storableJson(value);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether PostgreSQL's `text` and `jsonb` accept it: it contains neither U+0000 nor half a surrogate pair. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

function withStorableNames(value: object): object {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [storableText(name), inner as unknown]));
}
