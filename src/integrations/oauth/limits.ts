/** One request to a tool server or its authorization server. */
export const REQUEST_MS = 10_000;
/** All requests that begin one sign-in. */
export const DISCOVERY_MS = 30_000;
/** One answer, after decompression. Contract, section 14. */
export const MAX_ANSWER_BYTES = 1_048_576;

export const SIGN_IN_LIFETIME_MS = 10 * 60_000;
/** Sign-ins of one integration that nobody has completed; the oldest makes room for one more. */
export const MAX_OPEN_SIGN_INS = 20;
export const REMOVE_SIGN_INS_EVERY_MINUTES = 60;
export const REMOVE_BATCH = 100;

/** An access token is refreshed this long before it expires; a short-lived one after half of its life. */
export const REFRESH_MARGIN_MS = 60_000;
/** A process that claimed a refresh and died holds the others up for so long. Longer than `REQUEST_MS`. */
export const REFRESH_LEASE_MS = 30_000;
/** Between two looks at whether another process has finished its refresh. */
export const REFRESH_POLL_MS = 100;
/** How long a refresh by others is waited for: until a dead process's claim is free, and one request more. */
export const REFRESH_WAIT_MS = REFRESH_LEASE_MS + REQUEST_MS;
/** Tokens that the server refuses although they are no older than this are not replaced: others would be refused too. */
export const REFUSED_TOKENS_PAUSE_MS = 30_000;
/** How long new tokens wait for a database that is away. With the request, less than the lease: later nobody may store them. */
export const SAVE_WAIT_MS = 15_000;
export const SAVE_PAUSE_MS = 500;
/** What is known of a grant is read again after this time, so that another process's sign-in shows. */
export const CACHE_MS = 5_000;
export const CACHED_GRANTS = 5_000;

/** What servers may make us store and send. */
export const MAX_TOKEN_LENGTH = 16_384;
export const MAX_CLIENT_ID_LENGTH = 2_048;
export const MAX_SCOPE_LENGTH = 4_096;
export const MAX_URL_LENGTH = 8_192;
/** Longer lifetimes are taken for this one. */
export const MAX_LIFETIME_SECONDS = 10 * 365 * 24 * 3_600;
