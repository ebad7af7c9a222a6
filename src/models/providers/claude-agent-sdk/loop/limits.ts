/** Runs of one process before a new one replaces it: its memory grows by about a megabyte with each run. */
export const MAX_RUNS = 50;

/** An organization that has waited this long since its last run began gets the next free process, even if other organizations could reuse theirs. */
export const SHARE_MS = 5_000;

/** An idle process ends after this time. The next run then waits about half a second for a new one. */
export const IDLE_MS = 5 * 60_000;

/** A process that does not ask for the next step in this time is killed, and another one takes over. A step takes 20 ms, in a new process 500 ms. */
export const STEP_MS = 10_000;

/** A process that has not ended its turn this long after its run is killed. */
export const STOP_MS = 1_000;

/** The run fails with this number of failed processes. */
export const MAX_FAILURES = 2;

/** Interval of pings during model and tool calls: the SDK gives up a silent response. */
export const PING_MS = 10_000;

/** Size of a request to the loopback endpoint. A process repeats all its runs, with some hundred bytes for each step. */
export const MAX_REQUEST_BYTES = 1024 * 1024;

/** Most time for a request to the loopback endpoint to arrive. */
export const REQUEST_MS = 30_000;

/** Longer than any run: the engine limits the time of a run. */
export const NEVER_MS = 24 * 60 * 60_000;

/** A folder without changes for this long has no process: no process lives for a day. */
export const OLD_FOLDER_MS = 24 * 60 * 60_000;

/** Most tool calls that a process makes for one response: each takes about 10 ms and 100 KB, and the engine waits only for the first. */
export const MAX_CALLS = 4;
