/** A run made with a session pass, as far as the session has a say in it. */
export interface RunSession {
  readonly id: string;
  /** The key of the session's user, which `UserKeys` makes; null when it names none. */
  readonly userKey: string | null;
}

/** Runs of a web session in its whole life. A turn counts when its run is accepted, whatever becomes of it. */
export const MAX_SESSION_TURNS = 100;
