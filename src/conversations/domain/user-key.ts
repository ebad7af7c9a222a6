import { createHash } from 'node:crypto';
import type { RunSession } from './session-turns.js';
import type { UserContext } from './user-context.js';

/** Characters of a user's id; what is longer names nobody. */
export const MAX_USER_ID = 1_000;

/**
 * Stands for a user of an organization: the same for the same id, and not to be read back.
 * @param userId as the customer names the user; a number is the same as its digits
 * @returns a UUID, or null where it names nobody
 */
export function userKeyOf(userId: string | number | boolean | undefined): string | null {
  const id = userId === undefined ? '' : String(userId);
  // Halves of characters would all have the same digest, and so would be one person.
  if (id === '' || id.length > 2 * MAX_USER_ID || [...id].length > MAX_USER_ID || !id.isWellFormed()) return null;
  const digest = createHash('sha256').update(id).digest('hex');
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([from, to]) => digest.slice(from, to)).join('-');
}

/** For whom a run is made: its session's user, or where it has no session the one that its `userContext` names. */
export interface RunUser {
  readonly userContext: UserContext | null;
  readonly session: Pick<RunSession, 'userKey'> | null;
}

export function userKeyOfRun({ userContext, session }: RunUser): string | null {
  return session ? session.userKey : userKeyOf(userContext?.['userId']);
}
