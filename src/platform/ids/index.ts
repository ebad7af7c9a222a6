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

/** Created on first use, so that `newId` costs nothing more in a process that chooses no ids. */
let chosen: AsyncLocalStorage<(string | null)[]> | undefined;

/** Runs `work`, in which `newId` first returns these ids, in their order; null stands for a generated one. */
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

/** Unguessable bytes, for keys and tokens. */
export function secureRandomBytes(count: number): Buffer {
  return randomBytes(count);
}
