/** Most time for one request for vectors. */
export const EMBEDDING_MS = 60_000;

/** Size of a response: 64 vectors of 4,096 numbers with 24 characters each are 6 MiB. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Numbers in a vector; the database accepts no more. */
export const MAX_DIMENSIONS = 16_000;

/** Values in a response: the numbers of 64 vectors, and the fields around them. */
export const MAX_ANSWER_VALUES = 64 * MAX_DIMENSIONS + 10_000;
/** Lists, objects and members in a response; a usual one has about 320. */
export const MAX_ANSWER_LISTS = 10_000;

/** Characters of an endpoint's error message in the log. */
export const DETAIL_CHARACTERS = 500;
