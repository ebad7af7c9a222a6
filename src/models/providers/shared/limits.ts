/** A provider that sends not one byte for this long is given up: the call fails with `provider_error`. */
export const IDLE_MS = 120_000;

/** A provider whose address takes no connection for this long counts as down, and the call is tried again. */
export const CONNECT_MS = 10_000;

/**
 * After a provider's last event its response is read to the end for at most this long, so that the
 * connection can serve the next call. Past it the connection is closed and the answer stands.
 */
export const DRAIN_MS = 250;

/** Idle connections stay open this long for the next call; past it a new call connects anew. */
export const KEEP_ALIVE_MS = 60_000;

/** Of a refusal's body, no more than this is read; the rest cannot change how it is classified. */
export const REFUSAL_BODY_BYTES = 16 * 1024;

/** Characters that are quoted of a provider's message about a refused schema. */
export const MAX_QUOTED_REFUSAL = 300;

/** Characters that are kept of a tool's input that is not a JSON object, to be quoted to the model. */
export const MAX_MALFORMED_INPUT = 500;

/** Clients kept for reuse, one an API key. The least recently used goes first; a new one takes under 1 ms to make. */
export const CLIENT_CACHE_SIZE = 500;

/** Further tries of a call that the provider refused before it sent anything. Past them the refusal is reported. */
export const MAX_RETRIES = 2;

/** The longest wait before the first further try, doubled for the second; half of each is random, to spread callers. */
export const RETRY_BASE_MS = 500;

/** A provider that asks for a longer wait than this is not waited for: its refusal is reported at once. */
export const MAX_RETRY_AFTER_SECONDS = 20;
