/** Chunks whose lack of a vector is looked up at once: each look goes over all chunks of the agent. */
export const LOOK_CHUNKS = 512;

/** Vectors as text that one statement carries: the embedded database reads some 10 KB in a millisecond, in this thread. */
export const STORED_CHARACTERS = 100_000;

/** Pauses after failures one after the other: the first, doubled up to the last. An endpoint's own wish goes before. */
export const FIRST_PAUSE_SECONDS = 2;
export const MAX_PAUSE_SECONDS = 60;
/** The longest wish that is honoured to the letter; then the endpoint is asked again. */
export const MAX_RETRY_AFTER_SECONDS = 3_600;
/** While another worker is at the agent. */
export const LEASED_PAUSE_SECONDS = 5;

/** A worker that has not renewed its hold on an agent is taken for dead; one request for vectors takes less. */
export const LEASE_MS = 120_000;
export const LEASES_KEPT_MS = 24 * 3_600_000;

/** Agents that are embedded at the same time by one process. */
export const AGENTS_AT_ONCE = 2;

/** Agents without vectors are looked for this often, besides when chunks are added. */
export const EMBED_MISSING_EVERY_MINUTES = 5;
/** How many of them one job takes up in a statement. */
export const MISSING_BATCH = 100;

/** Vectors removed by one statement. */
export const REMOVED_VECTORS = 500;

/** Which model serves is kept in memory for this time. */
export const MODELS_CACHE_MS = 5_000;

/** Up to so many chunks that a search may see are all compared: exact, and quicker than the index, which knows no agents. */
export const EXACT_CHUNKS = 10_000;

/** Dimensions that an HNSW index takes, of numbers of 32 bits and of 16. */
export const INDEXED_DIMENSIONS = 2_000;
export const INDEXED_HALF_DIMENSIONS = 4_000;

/** A search through the index looks at so many neighbours at a time. */
export const EF_SEARCH = 100;
