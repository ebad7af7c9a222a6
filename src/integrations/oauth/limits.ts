/** The timeout of one request to a tool server or its authorization server. At most `MAX_REQUEST_MS` of the OAuth module. */
export const REQUEST_MS = 10_000;
/** The timeout of all requests that start one sign-in. */
export const DISCOVERY_MS = 30_000;
/** One answer, after decompression. Contract, section 14. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** Refused tokens that are younger than this are not replaced, because the server would refuse new ones too. */
export const REFUSED_TOKENS_PAUSE_MS = 30_000;
/** How long a grant is cached: the delay until this process sees a sign-in in another process. */
export const CACHE_MS = 5_000;
export const CACHED_GRANTS = 5_000;

/** The longest values of a server that the service stores and sends. */
export const MAX_CLIENT_ID_LENGTH = 2_048;
export const MAX_URL_LENGTH = 8_192;
