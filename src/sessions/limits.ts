/** Passes are checked against the session's own facts, which do not change, from memory for this long. */
export const SESSION_CACHE_MS = 300_000;
export const SESSION_CACHE_ENTRIES = 20_000;

/** A key signs for this long, then the next one does. */
export const SIGNING_KEY_DAYS = 30;
/**
 * A new key is known to every process before it signs: they read the list at least twice in this time. Only the very
 * first one signs at once.
 */
export const SIGNING_KEY_ANNOUNCED_MS = 60_000;
export const SIGNING_KEYS_CACHE_MS = 20_000;
/** A pass under a key that is not in the list makes the list be read again, at most this often. */
export const UNKNOWN_KEY_MS = 2_000;

/** A session that is over is remembered, so that its resume token is answered as expired. */
export const SESSION_KEPT_DAYS = 30;
export const PURGE_EVERY_MINUTES = 60;
/** Small enough that no lock is held for long. */
export const PURGE_BATCH = 500;
