/** The web session that a run belongs to. */
export interface RunSession {
  readonly id: string;
  /** The key of the session's user, which `UserKeys` makes; null when it names none. */
  readonly userKey: string | null;
}

/** For the whole life of a web session. A turn counts once its run is accepted, whether it completes or not. */
export const MAX_SESSION_TURNS = 100;
