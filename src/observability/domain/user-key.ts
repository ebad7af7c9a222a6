import { createHash } from 'node:crypto';
import type { UserContext } from '../../conversations/index.js';

/**
 * Stands for the user that a run's context names as `userId`: the same for the same name, and not to be read back.
 * @returns a UUID, or null where the context names nobody
 */
export function userKeyOf(userContext: UserContext | null): string | null {
  const userId = userContext?.['userId'];
  if (userId === undefined || userId === '') return null;
  const digest = createHash('sha256').update(String(userId)).digest('hex');
  return [[0, 8], [8, 12], [12, 16], [16, 20], [20, 32]].map(([from, to]) => digest.slice(from, to)).join('-');
}
