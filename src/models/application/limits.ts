/** A refused text is sent once more, cut to this length: fewer than the 512 tokens of small models, in any script. */
export const SHORTENED_CHARACTERS = 400;

/** How long a search waits for the vector of its query; after that it searches by words only. */
export const QUERY_EMBEDDING_MS = 2_000;
/** After a failed request for a vector, searches go without vectors for this long. */
export const QUERY_PAUSE_MS = 5_000;
/** How long, and how many, vectors of queries are cached. */
export const QUERY_CACHE_MS = 5 * 60_000;
export const QUERY_CACHE_ENTRIES = 500;
/** A longer query is embedded by its beginning. */
export const QUERY_CHARACTERS = 4_000;
