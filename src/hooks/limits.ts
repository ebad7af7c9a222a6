/** Handlers of one event, over all its groups. Service document, "Limits". */
export const MAX_HANDLERS = 8;

/** Of any string in the document, and of one in what a handler answers, which is cut; in code points. Service document. */
export const MAX_STRING = 10_000;

/**
 * What the inputs of tool handlers may hold together, in values and characters: a document is written, told in versions
 * and read again as a whole, and a value costs the embedded database more than its bytes tell. No tool takes a tenth of it.
 */
export const MAX_INPUT_VALUES = 10_000;
export const MAX_INPUT_CHARACTERS = 1_000_000;

/** Of one http handler. Service document. */
export const MAX_HEADERS = 16;

/** Of a handler, in seconds. Service document. */
export const MAX_TIMEOUT_SECONDS = 10;

/** What a handler answers, after decompression. Contract, section 14. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** The same, in values and in combinations of names: eight handlers may answer at the same moment, and all of it is built at once. */
export const ANSWER_LIMITS = { maxValues: 20_000, maxShapes: 2_000 };

/** What a tool handler's tool is sent, in characters: a tool's whole output fits, and its result besides. */
export const MAX_TOOL_INPUT = 2_000_000;

/** Of the session-start hook where it says none itself, in milliseconds. */
export const SESSION_START_TIMEOUT_MS = 5_000;

/** And at most, whatever it says: no tool call takes longer. Contract, section 7. */
export const MAX_SESSION_START_TIMEOUT_MS = 60_000;

/** Contexts of one session-start hook: each is a part of the prompt of every run of the thread. */
export const MAX_SESSION_CONTEXTS = 100;

/** Characters of them together; more would leave a model no room for the conversation. */
export const MAX_SESSION_CONTEXT_CHARACTERS = 200_000;

/** After the time of the hooks of a session start: until then what another process is at may still be stored. */
export const SESSION_START_GRACE_MS = 2_000;

/** How often a run looks whether the session start that another run is at has ended. */
export const SESSION_START_POLL_MS = 100;

/** Of one secret of the values of headers, in UTF-16 code units; the embedded database computes 10 ms for it. */
export const MAX_SECRET_CHARACTERS = 100_000;

/** How long both secrets sign after a rotation. Contract, section 8. */
export const PREVIOUS_SECRET_MS = 24 * 60 * 60_000;

/** Hooks of agents in memory, as characters of JSON, the least recently used going first; and what an agent without any takes. */
export const HOOKS_CACHE_CHARACTERS = 32 * 1024 * 1024;
export const NO_HOOKS_CHARACTERS = 1_000;

/** Session starts of threads that are kept between runs, and their characters together. */
export const SESSIONS_CACHE_CHARACTERS = 16 * 1024 * 1024;
