/** One request for vectors, from the first byte to the last. */
export const EMBEDDING_MS = 60_000;

/** An answer: 64 vectors of 4,096 numbers, each written with 24 characters, are 6 MiB. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Numbers of one vector; the database takes no more. */
export const MAX_DIMENSIONS = 16_000;

/** Values of one answer: all numbers that 64 vectors may have, and what stands beside them. */
export const MAX_ANSWER_VALUES = 64 * MAX_DIMENSIONS + 10_000;
/** Lists, objects and members of one answer; the API has some 320. */
export const MAX_ANSWER_LISTS = 10_000;

/** Enough of an endpoint's words for the log to tell what happened. */
export const DETAIL_CHARACTERS = 500;
