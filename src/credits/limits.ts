/** Periods and entries per page. */
export const PERIODS = { default: 12, max: 24 } as const;
export const ENTRIES = { default: 500, max: 1000 } as const;

/** Reads add uncounted entries themselves, so this interval does not affect results, only the cost of reads. */
export const COUNT_EVERY_MINUTES = 1;
/** How long after the end of a month its last entries may be counted, which then use up the credits of that month. */
export const COUNTED_AFTER_MS = 60 * 60_000;
/** How long an entry can be listed; the sums of months stay. */
export const ENTRIES_KEPT_MONTHS = 24;
export const PURGE_EVERY_MINUTES = 24 * 60;
/** Entries per statement: few enough that it holds its locks, and the single embedded connection, only for milliseconds. */
export const COUNT_BATCH = 500;
export const PURGE_BATCH = 500;
