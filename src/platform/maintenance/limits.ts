/** How often it is looked for what is due. */
export const LOOK_EVERY_MS = 60_000;

/** PostgreSQL's own measures for its autovacuum: so many rows, and a share of the table's. */
export const DEAD_ROWS = { rows: 50, share: 0.2 } as const;
export const INSERTED_ROWS = { rows: 1_000, share: 0.2 } as const;
export const CHANGED_ROWS = { rows: 50, share: 0.1 } as const;

/** With its indexes. A larger table keeps the thread for more than some 100 ms, which waits until no request is open. */
export const SMALL_TABLE_BYTES = 16 * 1024 * 1024;

/** So much is at most read again after a kill, beside what a minute writes. */
export const CHECKPOINT_BYTES = 32 * 1024 * 1024;
