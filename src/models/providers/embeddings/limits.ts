/** One request for vectors, from the first byte to the last. */
export const EMBEDDING_MS = 60_000;

/** An answer: 64 vectors of 4,096 numbers, each written with 24 characters, are 6 MiB. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Numbers of one vector; the database takes no more. */
export const MAX_DIMENSIONS = 16_000;

/** Enough of an endpoint's words for the log to tell what happened. */
export const DETAIL_CHARACTERS = 500;
