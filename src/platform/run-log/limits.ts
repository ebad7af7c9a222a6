/** How long the events of an ended run can be read. */
export const ENDED_LOG_MS = 5 * 60_000;
/** Ended logs above this size are removed earlier, the oldest first. With Redis, readers then get its copy, if it has one. */
export const ENDED_LOG_BYTES = 32 * 1024 * 1024;

/** How long the copy of a running run's log outlives its process: well over the time after which the runs of a dead process are ended and their logs sealed. */
export const RUNNING_LOG_MS = 2 * 60_000;
/** How often that time is renewed, also for runs without new events. */
export const REFRESH_MS = RUNNING_LOG_MS / 4;

/** Characters of events that wait for Redis. Above it the runs with the most waiting events are no longer copied. */
export const BACKLOG_SIZE = 16 * 1024 * 1024;
/** Characters that a batch has of one run at most, except for one larger event; and its number of events. */
export const BATCH_SIZE = 256 * 1024;
export const BATCH_ENTRIES = 500;
/** Pause between batches, unless more than a batch waits: the delay that it adds for readers in other processes. */
export const BATCH_GAP_MS = 50;
/** Pause after a batch that Redis did not accept; doubled each time up to the longest. */
export const RETRY_MS = 100;
export const MAX_RETRY_MS = 2_000;

/** Entries that a process fetches with one command from the log of another process's run. */
export const PAGE_ENTRIES = 500;
/** How often followed logs are fetched without an announcement, which detects that a log, or Redis, is gone. */
export const LOOK_MS = 5_000;
/** How long a read waits for a log that does not exist: the first event of a new run takes as long to get to another process. */
export const APPEAR_MS = 250;

/** A command without a response for this long fails. */
export const COMMAND_MS = 2_000;
/** How long a stopping process sends the entries that Redis lacks. */
export const FLUSH_MS = 1_500;
