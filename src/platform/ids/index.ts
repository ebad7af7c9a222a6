import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes, randomFillSync } from 'node:crypto';
import { v7, validate } from 'uuid';

const RANDOM_BYTES = 16;
/** For many ids: asking the system for the random bytes of each one costs more than the rest of it. */
const random = Buffer.alloc(256 * RANDOM_BYTES);
let randomUsed = random.length;
let lastMs = 0;
let sequence = 0;

/** A new UUID version 7. The ids of one process sort by creation, also when its clock is set back. */
export function newId(): string {
  return chosen?.getStore()?.shift() ?? generate();
}

function generate(): string {
  if (randomUsed === random.length) {
    randomFillSync(random);
    randomUsed = 0;
  }
  const bytes = random.subarray(randomUsed, (randomUsed += RANDOM_BYTES));
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    // Begins in the lower half, so that the ids of one millisecond cannot exhaust it.
    sequence = bytes.readUInt32BE() >>> 1;
  } else {
    sequence += 1;
  }
  return v7({ msecs: lastMs, seq: sequence, random: bytes });
}

/** Created on first use, so that `newId` costs no more in a process that chooses no ids. */
let chosen: AsyncLocalStorage<(string | null)[]> | undefined;

/** Runs `work`, in which `newId` first returns these ids, in their order; null stands for a generated one. */
export function withIds<Result>(ids: readonly (string | null)[], work: () => Promise<Result>): Promise<Result> {
  chosen ??= new AsyncLocalStorage();
  return chosen.run([...ids], work);
}

/** A UUID version 7 that depends only on the time and the names. */
export function derivedId(at: Date, names: readonly string[]): string {
  return v7({ msecs: at.getTime(), random: createHash('sha256').update(JSON.stringify(names)).digest() });
}

/** The time in a UUID version 7; arbitrary for other UUIDs. */
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
