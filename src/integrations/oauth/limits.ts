/** One request to a tool server or its authorization server. No longer than `MAX_REQUEST_MS` of the OAuth module. */
export const REQUEST_MS = 10_000;
/** All requests that begin one sign-in. */
export const DISCOVERY_MS = 30_000;
/** One answer, after decompression. Contract, section 14. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** Tokens that the server refuses although they are no older than this are not replaced: others would be refused too. */
export const REFUSED_TOKENS_PAUSE_MS = 30_000;
/** A cached grant is read again after this time, so that the sign-in of another process shows. */
export const CACHE_MS = 5_000;
export const CACHED_GRANTS = 5_000;

/** Longest values that a server may have the service store and send. */
export const MAX_CLIENT_ID_LENGTH = 2_048;
export const MAX_URL_LENGTH = 8_192;
