import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import { v7, validate } from 'uuid';

/**
 * A new UUID version 7: sorts by creation, also within one millisecond of one process, and when its clock stands still
 * or is set back.
 */
export function newId(): string {
  return chosen?.getStore()?.shift() ?? v7();
}

/** Made when it is first needed: a service that chooses no ids pays nothing for it. */
let chosen: AsyncLocalStorage<(string | null)[]> | undefined;

/** Does `work`, whose first new ids are these, in their order; null stands for any. */
export function withIds<Result>(ids: readonly (string | null)[], work: () => Promise<Result>): Promise<Result> {
  chosen ??= new AsyncLocalStorage();
  return chosen.run([...ids], work);
}

/** The id that follows from a moment and from names: a UUID of version 7 that is the same each time. */
export function derivedId(at: Date, names: readonly string[]): string {
  return v7({ msecs: at.getTime(), random: createHash('sha256').update(JSON.stringify(names)).digest() });
}

/** The moment that a UUID of version 7 begins with; of another UUID any. */
export function momentOf(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}

/** Any spelling of a UUID that PostgreSQL's `uuid` type and the interface both accept. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && validate(value);
}

/** Bytes that nobody can guess, for keys and tokens. */
export function secureRandomBytes(count: number): Buffer {
  return randomBytes(count);
}
