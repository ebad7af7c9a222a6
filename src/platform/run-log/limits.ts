/** A run that has ended can be joined for this long; later its events are gone. */
export const ENDED_LOG_MS = 5 * 60_000;

/** Ended logs beyond this go before their time, the oldest first: a busy process keeps its memory. */
export const ENDED_LOG_BYTES = 64 * 1024 * 1024;

/**
 * How long the copy of a running run's log outlives its process. Well over the time after which the runs
 * of a dead process are ended, which seals their logs.
 */
export const RUNNING_LOG_MS = 2 * 60_000;

/** How often that time is started anew, also for runs that say nothing. */
export const REFRESH_MS = RUNNING_LOG_MS / 4;

/** Events that wait for Redis, in characters. Beyond it the runs with the most to send are no longer copied. */
export const BACKLOG_SIZE = 16 * 1024 * 1024;

/** What one run sends at once at most, in characters, but for one event that is larger; and how many events. */
export const BATCH_SIZE = 256 * 1024;
export const BATCH_ENTRIES = 500;

/** From one batch to the next, unless more than a batch waits: what it adds before others see an event. */
export const BATCH_GAP_MS = 50;

/** Pause after a batch that Redis did not take; doubled up to the longest. */
export const RETRY_MS = 100;
export const MAX_RETRY_MS = 2_000;

/** Entries fetched at once by a process that follows another one's run. */
export const PAGE_ENTRIES = 500;

/** How often followed logs are looked at without being told of news: finds logs, and a Redis, that are gone. */
export const LOOK_MS = 5_000;

/** How long a log that is not there may take to appear: the way of a run's first event to another process. */
export const APPEAR_MS = 250;

/** After this without an answer Redis counts as gone. */
export const COMMAND_MS = 2_000;

/** How long a stopping process goes on sending what Redis does not have yet. */
export const FLUSH_MS = 3_000;
