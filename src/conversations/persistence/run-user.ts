import type { UserContext } from '../domain/user-context.js';
import type { RunUser } from '../domain/user-key.js';

export interface RunUserRow {
  readonly user_context: unknown;
  readonly session_id: string | null;
  readonly session_user_key: string | null;
}

/**
 * A run has the key of its user. Earlier releases stored it only for runs with a session; for their other runs
 * `user_context` names the user.
 */
export function toRunUser({
  user_context: userContext,
  session_id: sessionId,
  session_user_key: userKey,
}: RunUserRow): RunUser {
  return {
    userContext: userContext as UserContext | null,
    session: sessionId === null && userKey === null ? null : { userKey },
  };
}
