/** A text that the embeddings endpoint refuses is tried once more with so much of it: less than the 512 tokens of small models, in any script. */
export const SHORTENED_CHARACTERS = 400;

/** How long a search waits for the vector of its query before it goes on by words alone. */
export const QUERY_EMBEDDING_MS = 2_000;
/** After a query's vector was not to be had, others do not wait for theirs for this time. */
export const QUERY_PAUSE_MS = 5_000;
/** Vectors of queries in memory. */
export const QUERY_CACHE_MS = 5 * 60_000;
export const QUERY_CACHE_ENTRIES = 500;
/** What is embedded of a query. */
export const QUERY_CHARACTERS = 4_000;
