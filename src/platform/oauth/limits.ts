/** The time in which a person must complete a sign-in. */
export const SIGN_IN_LIFETIME_MS = 10 * 60_000;
/** Open sign-ins of one owner; a new one replaces the oldest. */
export const MAX_OPEN_SIGN_INS = 20;
export const REMOVE_SIGN_INS_EVERY_MINUTES = 60;
/** Expired sign-ins that one transaction removes. */
export const REMOVE_BATCH = 100;

/** An access token is refreshed this long before it expires; a short-lived one after half of its life. */
export const REFRESH_MARGIN_MS = 60_000;
/** The most that a token request may take, so that `REFRESH_LEASE_MS` is longer than a request and `SAVE_WAIT_MS` together. */
export const MAX_REQUEST_MS = 15_000;
/** Other processes wait this long for a process that died during a refresh. */
export const REFRESH_LEASE_MS = 30_000;
/** Interval at which a process checks for the end of another one's refresh. */
export const REFRESH_POLL_MS = 100;
/** How long a caller waits for another process's refresh: the lease of a dead process and one request. */
export const REFRESH_WAIT_MS = REFRESH_LEASE_MS + MAX_REQUEST_MS;
/** How long storing new tokens is retried while the database is unavailable. */
export const SAVE_WAIT_MS = 14_000;
export const SAVE_PAUSE_MS = 500;

/** A response with a longer token is unusable; a longer scope is ignored. */
export const MAX_TOKEN_LENGTH = 16_384;
export const MAX_SCOPE_LENGTH = 4_096;
/** Longer lifetimes are reduced to this one. */
export const MAX_LIFETIME_SECONDS = 10 * 365 * 24 * 3_600;
