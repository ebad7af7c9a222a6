/** Of a search, in code points. */
export const MAX_QUERY_LENGTH = 8_000;

/** How long computing keeps the thread before others have their turn, in ms. */
export const COMPUTE_SLICE_MS = 10;
/** Chunks that one transaction inserts: some 20 ms of the embedded database's time. */
export const INSERTED_AT_ONCE = 32;
/** Chunks that one transaction deletes, with their vectors. */
export const DELETED_AT_ONCE = 32;
/** Chunks whose row one transaction changes, their words aside. */
export const CHANGED_AT_ONCE = 250;
/** How often a document is begun anew that another process is writing too, and how long each time is waited for it, in ms. */
export const MAX_WRITE_ATTEMPTS = 6;
export const WRITE_AGAIN_AFTER_MS = 500;
/** Chunks of a former version of the service are found by keywords after as many minutes at most. */
export const MAINTAIN_POSTINGS_EVERY_MINUTES = 1;
/** Terms of which one transaction removes the postings of chunks that are gone. */
export const COMPACTED_AT_ONCE = 500;

/** Documents of a deleted agent that are removed before the next ones are looked for. */
export const REMOVE_BATCH = 100;
/** Terms of its index removed by one statement. */
export const TERMS_BATCH = 1_000;

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
