/** How often a process polls for due rows: delayed ones, and those of dead processes. */
export const RELAY_POLL_MS = 2_000;
/** How long Redis may take to answer before the connection to it is replaced. */
export const ANSWER_MS = 3_000;
/** Rows that one statement claims. */
export const RELAY_BATCH = 100;
/** Another process may claim a row that was claimed and not dispatched within this time. */
export const CLAIM_LEASE_MS = 10_000;
/**
 * A dispatched row is dispatched again after this time unless its job is done. The queue ignores a job that it has, and gets
 * back one that it lost (Redis emptied or restored).
 */
export const RECHECK_MS = 60_000;

/** A worker that did not renew its lock on a job for this time counts as dead. */
export const LOCK_MS = 30_000;
/** How often workers look for jobs of dead workers; such a job runs again after LOCK_MS plus at most two of these. */
export const STALLED_CHECK_MS = 15_000;
/** How long a worker does not ask for a job after the queue has failed to answer. */
export const PAUSE_MS = 2_000;
/** How many dead workers of one job the queue tolerates: more than any job has attempts, because the row counts those. */
export const MAX_STALLED = 1_000;
/**
 * How long a waiting worker does not query the queue. On Redis it waits in a blocking call, which costs nothing; PostgreSQL
 * announces new jobs, and polling only replaces lost announcements.
 */
export const IDLE_WAIT_SECONDS = { redis: 5, postgres: 60 } as const;
/** Length of the queue's stream of events, which the service does not read. */
export const QUEUE_EVENTS_KEPT = 100;

/** How often workers report, and compare the queue's schedules with the definitions, because Redis may lose them. */
export const UPKEEP_MS = 60_000;
/** A worker that has not reported for this time, which two upkeeps fit into, does not count as present. */
export const PRESENT_MS = 150_000;
/** How long the row of a worker that died is kept. */
export const FORGOTTEN_AFTER_MS = 24 * 3_600_000;
/** How long a dead row is kept for the operator. */
export const DEAD_KEPT_MS = 30 * 24 * 3_600_000;
/** Jobs that one command lists. */
export const LISTED = 100;
/** Characters of each job's error, so that the list stays within the limit of a command's output. */
export const LISTED_ERROR = 1_000;
/** Rows that one statement of the upkeep deletes. */
export const PURGE_BATCH = 500;

/** Jobs that are counted for the metrics at most: dead ones, and others. */
export const COUNTED_JOBS = 10_000;
/** How long a count is cached, because anyone may request the metrics at any rate. */
export const COUNT_KEPT_MS = 5_000;
/** How long a request for the metrics waits for the database. */
export const COUNT_TIMEOUT_MS = 2_000;

/** How long a stopping process waits for its jobs before it aborts them. */
export const STOP_GRACE_MS = 10_000;
/** How long a job may run after its signal is aborted; later another worker finds it stalled. */
export const ABORT_GRACE_MS = 5_000;
/** How long closing the queue may take. */
export const CLOSE_GRACE_MS = 5_000;
