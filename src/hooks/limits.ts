/** Handlers of one event, over all its groups. Service document, "Limits". */
export const MAX_HANDLERS = 8;

/** In code points. A longer string in a document is refused, one in an output is cut. Service document. */
export const MAX_STRING = 10_000;

/**
 * Values and characters of all tool handlers' inputs together. Every write, and every version, stores the whole document, and a
 * nested value costs the embedded database more than its bytes suggest.
 */
export const MAX_INPUT_VALUES = 10_000;
export const MAX_INPUT_CHARACTERS = 1_000_000;

/** Of one http handler. Service document. */
export const MAX_HEADERS = 16;

/** Of a handler. Service document. */
export const MAX_TIMEOUT_SECONDS = 10;

/** Of a handler's response after decompression. Contract, section 14. */
export const MAX_RESPONSE_BYTES = 1_048_576;

/** JSON values, and combinations of field names, in one output: eight handlers may respond at the same moment. */
export const OUTPUT_LIMITS = { maxValues: 20_000, maxShapes: 2_000 };

/** Characters that a tool handler sends to its tool: enough for a tool call's whole input and result. */
export const MAX_TOOL_INPUT = 2_000_000;

/** Of a session-start hook that sets no timeout. */
export const SESSION_START_TIMEOUT_MS = 5_000;

/** The longest time of any tool call. Contract, section 7. */
export const MAX_SESSION_START_TIMEOUT_MS = 60_000;

/** Contexts of one session-start hook: each becomes a part of the prompt of every run of the thread. */
export const MAX_SESSION_CONTEXTS = 100;

/** Characters of all contexts; more would leave a model no room for the conversation. */
export const MAX_SESSION_CONTEXT_CHARACTERS = 200_000;

/** How long after the hooks' timeouts the outcome of a session start may still arrive from another process. */
export const SESSION_START_GRACE_MS = 2_000;

/** How often a run checks whether another run's session start has ended. */
export const SESSION_START_POLL_MS = 100;

/** UTF-16 code units of one vault entry for header values; one takes the embedded database 10 ms. */
export const MAX_SECRET_CHARACTERS = 100_000;

/** Size of the cache of agents' hooks, as characters of JSON, and the size of an entry without hooks. */
export const HOOKS_CACHE_CHARACTERS = 32 * 1024 * 1024;
export const NO_HOOKS_CHARACTERS = 1_000;

/** Size of the cache of threads' sessions, in characters. */
export const SESSIONS_CACHE_CHARACTERS = 16 * 1024 * 1024;
