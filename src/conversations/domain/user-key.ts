import { createHash, createHmac } from 'node:crypto';
import type { RunSession } from './session-turns.js';
import type { UserContext } from './user-context.js';

/** Characters of a user's id; a longer id counts as no user. */
export const MAX_USER_ID = 1_000;

const KEY_BYTES = 16;
/** "userk", which begins keyed keys. About one bare digest in 10^12 begins with it too, and is not re-keyed. */
const TAG = Buffer.from('userk');
const FIRST_KEYED = toUuid(Buffer.concat([TAG, Buffer.alloc(KEY_BYTES - TAG.length)]));
const LAST_KEYED = toUuid(Buffer.concat([TAG, Buffer.alloc(KEY_BYTES - TAG.length, 0xff)]));

/**
 * The digest of a user's id without a key, which is the same in every organization. Earlier releases stored it;
 * `keyedUser` takes it, so that stored digests can be re-keyed without the id.
 * @param userId the customer's id of the user; a number is the same as its digits
 * @returns a UUID; null for an id that is empty, too long or not well-formed Unicode, which names no user
 */
export function bareUserKey(userId: string | number | boolean | undefined): string | null {
  const id = userId === undefined ? '' : String(userId);
  // All halves of surrogate pairs have the same digest, so their users would be one person.
  if (id === '' || id.length > 2 * MAX_USER_ID || [...id].length > MAX_USER_ID || !id.isWellFormed()) return null;
  return toUuid(createHash('sha256').update(id).digest());
}

/**
 * The key of a user of one organization: the same for the same id, and not computable without the organization's key.
 * The tag before the 88 bits of the HMAC shows that a stored key is keyed.
 */
export function keyedUser(organizationKey: Buffer, bare: string): string {
  const digest = createHmac('sha256', organizationKey)
    .update(Buffer.from(bare.replaceAll('-', ''), 'hex'))
    .digest();
  return toUuid(Buffer.concat([TAG, digest]));
}

/** The user of a run: the user of its session, or without a session the user that `userContext` names. */
export interface RunUser {
  readonly userContext: UserContext | null;
  readonly session: Pick<RunSession, 'userKey'> | null;
}

/** A column of a table that holds the keys of users (`UserKeys`), beside an `organization_id`. */
export interface UserColumn {
  readonly table: string;
  readonly column: string;
  /** The other columns of the unique key that contains the column. */
  readonly uniqueWith?: readonly string[];
  /** Statements look rows up by the column, so a process re-keys it before it serves requests. */
  readonly isLookedUp?: boolean;
}

export function isKeyedUser(userKey: string): boolean {
  return userKey >= FIRST_KEYED && userKey <= LAST_KEYED;
}

/** Statements and partial indexes need the same text, or PostgreSQL does not use the index. */
export function isBareUser(column: string): string {
  return `(${column} < '${FIRST_KEYED}' or ${column} > '${LAST_KEYED}')`;
}

function toUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex', 0, KEY_BYTES);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
