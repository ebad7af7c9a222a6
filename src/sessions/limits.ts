/** How long the facts of a session, which never change, are cached. */
export const SESSION_CACHE_MS = 300_000;
export const SESSION_CACHE_ENTRIES = 20_000;

/** A key signs for this long; then its successor does. */
export const SIGNING_KEY_DAYS = 30;
/**
 * A new key does not sign before this time has passed. Processes read the list at least twice in it, so all know the key by then. Only
 * the very first key signs at once.
 */
export const SIGNING_KEY_ANNOUNCED_MS = 60_000;
export const SIGNING_KEYS_CACHE_MS = 20_000;
/** A pass with an unknown key makes the process read the list again, at most this often. */
export const UNKNOWN_KEY_MS = 2_000;

/** An ended session is kept for this long, so that its resume token is answered as expired and not as invalid. */
export const SESSION_KEPT_DAYS = 30;
export const PURGE_EVERY_MINUTES = 60;
/** Rows per statement: few enough that its locks are short. */
export const PURGE_BATCH = 500;
