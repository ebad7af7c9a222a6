/** How often a process looks for due rows without a notification: those of dead processes, and delayed ones. */
export const RELAY_POLL_MS = 2_000;
/** Rows claimed by one statement. */
export const RELAY_BATCH = 100;
/** Another process may claim a claimed row that was not dispatched within this time. */
export const CLAIM_LEASE_MS = 10_000;
/**
 * A dispatched row is dispatched again after this time unless its job is done. The queue ignores a job that it
 * has; one that it lost (Redis emptied or restored) comes back this way.
 */
export const RECHECK_MS = 60_000;

/** A worker that did not renew its hold on a job for this time is taken for dead. */
export const LOCK_MS = 30_000;
/** How often workers look for jobs of dead workers; such a job runs again after LOCK_MS plus two of these at most. */
export const STALLED_CHECK_MS = 15_000;
/** How often the queue itself forgives a worker that died in a job; the row counts, and this must not come before it. */
export const MAX_STALLED = 1_000;
/**
 * How long a waiting worker leaves the queue unasked. Redis is asked by a blocking call, which costs nothing while it
 * waits; PostgreSQL announces new jobs, so that asking only makes up for a lost announcement.
 */
export const IDLE_WAIT_SECONDS = { redis: 5, postgres: 60 } as const;
/** The queue's own stream of events, which nothing here reads. */
export const QUEUE_EVENTS_KEPT = 100;

/** Schedules are compared with the queue's this often, since Redis may lose them. */
export const UPKEEP_MS = 60_000;
/** How long a dead row stays to be looked at. */
export const DEAD_KEPT_MS = 30 * 24 * 3_600_000;
/** Jobs that one command lists. */
export const LISTED = 100;
/** Characters of each one's error, so that the list stays within what an answer may be. */
export const LISTED_ERROR = 1_000;
/** Rows removed by one statement of the upkeep. */
export const PURGE_BATCH = 500;

/** Jobs that are counted for the metrics at most, of the dead ones and of the others. */
export const COUNTED_JOBS = 10_000;
/** For how long a count holds: everybody may ask for the metrics as often as they like. */
export const COUNT_KEPT_MS = 5_000;
/** How long one who asks for the metrics waits for the database. */
export const COUNT_TIMEOUT_MS = 2_000;

/** How long a stopping process lets its jobs end by themselves. */
export const STOP_GRACE_MS = 10_000;
/** How long a job has, once its signal is aborted, to give up; later it is left to be found stalled. */
export const ABORT_GRACE_MS = 5_000;
/** How long taking leave of the queue may last. */
export const CLOSE_GRACE_MS = 5_000;
