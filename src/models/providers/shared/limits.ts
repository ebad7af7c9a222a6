/** A call fails with `provider_error` if the provider sends no byte for this long. */
export const IDLE_MS = 120_000;

/** A provider that accepts no connection for this long counts as unreachable, and the call is repeated. */
export const CONNECT_MS = 10_000;

/** How long a call reads the rest of a response after its last event, so that the next call can use the connection. */
export const DRAIN_MS = 250;

/** How long an idle connection stays open for the next call. */
export const KEEP_ALIVE_MS = 60_000;

/** How much of an error response is read; the rest does not matter for its classification. */
export const REFUSAL_BODY_BYTES = 16 * 1024;

/** Characters of a provider's message about a refused schema that are quoted. */
export const MAX_QUOTED_REFUSAL = 300;

/** Characters of malformed tool input that are stored, to be quoted to the model. */
export const MAX_MALFORMED_INPUT = 500;

/** Cached SDK clients, one for each API key. The least recently used is dropped first; making a new one takes less than 1 ms. */
export const CLIENT_CACHE_SIZE = 500;

/** How often a call is repeated that the provider refused before it sent anything. */
export const MAX_RETRIES = 2;

/** The longest pause before the first repetition, doubled for the second. Half of each is random, to spread callers. */
export const RETRY_BASE_MS = 500;

/** A call is not repeated if the provider asks for a longer pause than this. */
export const MAX_RETRY_AFTER_SECONDS = 20;
