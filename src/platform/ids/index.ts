import { randomBytes } from 'node:crypto';
import { v7, validate } from 'uuid';

/**
 * A new UUID version 7: sorts by creation, also within one millisecond of one process, and when its clock stands still
 * or is set back.
 */
export function newId(): string {
  return v7();
}

/** Any spelling of a UUID that PostgreSQL's `uuid` type and the interface both accept. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && validate(value);
}

/** Bytes that nobody can guess, for keys and tokens. */
export function secureRandomBytes(count: number): Buffer {
  return randomBytes(count);
}
