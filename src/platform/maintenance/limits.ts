/** How often tables and the write-ahead log are checked. */
export const CHECK_EVERY_MS = 60_000;

/** PostgreSQL's thresholds for its autovacuum: a number of rows and a share of the table. */
export const DEAD_ROWS = { rows: 50, share: 0.2 } as const;
export const INSERTED_ROWS = { rows: 1_000, share: 0.2 } as const;
export const CHANGED_ROWS = { rows: 50, share: 0.1 } as const;

/** With its indexes. A larger table blocks the thread for more than some 100 ms, which waits until no request is open. */
export const SMALL_TABLE_BYTES = 16 * 1024 * 1024;

/** At most so much of the log is replayed after a kill, in addition to the writes of a minute. */
export const CHECKPOINT_BYTES = 32 * 1024 * 1024;
