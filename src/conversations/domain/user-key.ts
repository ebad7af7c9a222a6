import { createHash, createHmac } from 'node:crypto';
import type { RunSession } from './session-turns.js';
import type { UserContext } from './user-context.js';

/** Characters of a user's id; what is longer names nobody. */
export const MAX_USER_ID = 1_000;

const KEY_BYTES = 16;
/** "userk": a key that begins with it is keyed. Of bare digests one in a million million does so by chance, and is left as it is. */
const TAG = Buffer.from('userk');
const FIRST_KEYED = toUuid(Buffer.concat([TAG, Buffer.alloc(KEY_BYTES - TAG.length)]));
const LAST_KEYED = toUuid(Buffer.concat([TAG, Buffer.alloc(KEY_BYTES - TAG.length, 0xff)]));

/**
 * The digest of a user's id without a key, which is the same in every organization. Earlier versions stored it; it is
 * what `keyedUser` is made of, so that what they stored can be re-keyed without the id.
 * @param userId as the customer names the user; a number is the same as its digits
 * @returns a UUID, or null where it names nobody
 */
export function bareUserKey(userId: string | number | boolean | undefined): string | null {
  const id = userId === undefined ? '' : String(userId);
  // Halves of characters would all have the same digest, and so would be one person.
  if (id === '' || id.length > 2 * MAX_USER_ID || [...id].length > MAX_USER_ID || !id.isWellFormed()) return null;
  return toUuid(createHash('sha256').update(id).digest());
}

/**
 * Stands for a user of one organization: the same for the same id, and not to be computed without the organization's key.
 * 88 bits of an HMAC after the tag, so that stored keys tell by themselves whether they are keyed.
 */
export function keyedUser(organizationKey: Buffer, bare: string): string {
  const digest = createHmac('sha256', organizationKey).update(Buffer.from(bare.replaceAll('-', ''), 'hex')).digest();
  return toUuid(Buffer.concat([TAG, digest]));
}

/** For whom a run is made: its session's user, or where it has no session the one that its `userContext` names. */
export interface RunUser {
  readonly userContext: UserContext | null;
  readonly session: Pick<RunSession, 'userKey'> | null;
}

export function isKeyedUser(userKey: string): boolean {
  return userKey >= FIRST_KEYED && userKey <= LAST_KEYED;
}

/** The SQL condition for what `isKeyedUser` says no to, in one wording: partial indexes are found by it. */
export function isBareUser(column: string): string {
  return `(${column} < '${FIRST_KEYED}' or ${column} > '${LAST_KEYED}')`;
}

function toUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20, 2 * KEY_BYTES]].map(([from, to]) => hex.slice(from, to)).join('-');
}
