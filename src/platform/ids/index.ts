import { randomBytes, randomFillSync } from 'node:crypto';
import { v7, validate } from 'uuid';

const ID_BYTES = 16;
/** Random bytes for many ids at once: asking the system for 16 of them costs more than the rest of an id. */
const pool = new Uint8Array(256 * ID_BYTES);
let taken = pool.length;
let newestMs = 0;
let sequence = 0;

/** A new UUID version 7: sorts by creation, also within one millisecond of one process. */
export function newId(): string {
  const random = nextRandom();
  const now = Date.now();
  // A clock that stands still or is set back must not make a later id sort before an earlier one.
  sequence = now > newestMs ? seedOf(random) : sequence + 1;
  newestMs = Math.max(now, newestMs);
  return v7({ random, msecs: newestMs, seq: sequence });
}

function nextRandom(): Uint8Array {
  if (taken === pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  taken += ID_BYTES;
  return pool.subarray(taken - ID_BYTES, taken);
}

/** Half of the sequence's 32 bits at most, so that a millisecond never counts to its end. */
function seedOf([, , , , , , a = 0, b = 0, c = 0, d = 0]: Uint8Array): number {
  return ((a & 0x7f) << 24) | (b << 16) | (c << 8) | d;
}

/** Any spelling of a UUID that PostgreSQL's `uuid` type and the interface both accept. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && validate(value);
}

/** Bytes that nobody can guess, for keys and tokens. */
export function secureRandomBytes(count: number): Buffer {
  return randomBytes(count);
}
