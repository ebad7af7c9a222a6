/** Months a page. */
export const PERIODS = { default: 12, max: 24 } as const;
export const ENTRIES = { default: 500, max: 1000 } as const;

/**
 * Reads add what is not yet counted themselves, so this is about their cost alone: it grows with the entries of about
 * this long.
 */
export const COUNT_EVERY_MINUTES = 1;
/** Entries counted by one statement, which holds its locks, and in embedded mode the one connection, for milliseconds. */
export const COUNT_BATCH = 500;
