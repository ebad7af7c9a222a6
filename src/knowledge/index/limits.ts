/** Code points of a query. */
export const MAX_QUERY_LENGTH = 8_000;

/** Milliseconds of computing after which other work of the thread takes its turn. */
export const COMPUTE_SLICE_MS = 10;
/** Chunks that one transaction inserts: some 20 ms of the embedded database's time. */
export const INSERTED_AT_ONCE = 32;
/** Chunks that one transaction deletes, with their vectors. */
export const DELETED_AT_ONCE = 32;
/** Chunks of which one transaction changes the row only. */
export const CHANGED_AT_ONCE = 250;
/** Attempts to write a document that another process is writing too, and the pause before each. */
export const MAX_WRITE_ATTEMPTS = 6;
export const WRITE_AGAIN_AFTER_MS = 500;
/** Keywords find chunks of a former version of the service after this time at the latest. */
export const MAINTAIN_POSTINGS_EVERY_MINUTES = 1;
/** Terms of which one transaction removes the postings of deleted chunks. */
export const COMPACTED_AT_ONCE = 500;

/** Documents of a deleted agent that are removed before the next ones are read. */
export const REMOVE_BATCH = 100;
/** Terms of a deleted agent that one statement removes. */
export const TERMS_BATCH = 1_000;

/** Chunks without a vector that are read at once: each such statement reads all chunks of the agent. */
export const LOOK_CHUNKS = 512;
/** Characters of the vectors that one statement stores: the embedded database reads some 10 KB in a millisecond, in this thread. */
export const STORED_CHARACTERS = 100_000;
/** Vectors that one statement removes. */
export const REMOVED_VECTORS = 500;
/** Agents that one process embeds at the same time. */
export const AGENTS_AT_ONCE = 2;
/** The interval of the job that finds chunks without vectors, besides the jobs enqueued with new chunks. */
export const EMBED_MISSING_EVERY_MINUTES = 5;
/** The list of models is cached for this time. */
export const MODELS_CACHE_MS = 5_000;

/** The pause after a failure of the endpoint doubles from the first to the maximum; the endpoint's `Retry-After` takes precedence. */
export const FIRST_PAUSE_SECONDS = 2;
export const MAX_PAUSE_SECONDS = 60;
/** The longest `Retry-After` that is obeyed. */
export const MAX_RETRY_AFTER_SECONDS = 3_600;
/** The pause if another worker has the agent's lease. */
export const LEASED_PAUSE_SECONDS = 5;
/** A lease that was not renewed for this time can be taken; one request for vectors takes less. */
export const LEASE_MS = 120_000;
export const LEASES_KEPT_MS = 24 * 3_600_000;

/** A search compares up to this many visible chunks one by one: exact, and faster than the index, which has the chunks of all agents. */
export const EXACT_CHUNKS = 10_000;
/** The most dimensions of an HNSW index, with numbers of 32 bits and of 16. */
export const INDEXED_DIMENSIONS = 2_000;
export const INDEXED_HALF_DIMENSIONS = 4_000;
/** Neighbours that a search through the index reads at a time. */
export const EF_SEARCH = 100;
