/** A person signs in within this time; a later visit to the callback finds no sign-in. */
export const SIGN_IN_LIFETIME_MS = 10 * 60_000;
/** Open sign-ins of one owner; the oldest makes room for one more. */
export const MAX_OPEN_SIGN_INS = 20;
export const REMOVE_SIGN_INS_EVERY_MINUTES = 60;
/** Expired sign-ins that one transaction removes. */
export const REMOVE_BATCH = 100;

/** An access token is refreshed this long before it expires; a short-lived one after half of its life. */
export const REFRESH_MARGIN_MS = 60_000;
/** The most that a token request may take, so that `REFRESH_LEASE_MS` is longer than a request and `SAVE_WAIT_MS` together. */
export const MAX_REQUEST_MS = 15_000;
/** A process that dies during a refresh delays the others by this long. */
export const REFRESH_LEASE_MS = 30_000;
/** Between two looks at whether another process has finished its refresh. */
export const REFRESH_POLL_MS = 100;
/** How long a caller waits for a refresh by another process: until the claim of a dead one is free, and one request more. */
export const REFRESH_WAIT_MS = REFRESH_LEASE_MS + MAX_REQUEST_MS;
/** How long new tokens wait for a database that is away. */
export const SAVE_WAIT_MS = 14_000;
export const SAVE_PAUSE_MS = 500;

/** A longer token or scope of an answer makes the answer unusable, or is left out. */
export const MAX_TOKEN_LENGTH = 16_384;
export const MAX_SCOPE_LENGTH = 4_096;
/** Longer lifetimes are cut to this one. */
export const MAX_LIFETIME_SECONDS = 10 * 365 * 24 * 3_600;
