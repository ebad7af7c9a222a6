/** Runs that one process carries before another takes its place: its memory grows by about a megabyte with each. */
export const MAX_RUNS = 50;

/** An organization whose runs have waited this long since its last one began gets the next process that is free, although others could go on with theirs. */
export const SHARE_MS = 5_000;

/** A process without a run ends after this time; the next run waits for a new one, about half a second. */
export const IDLE_MS = 5 * 60_000;

/**
 * A process that has not asked for the next step by then is killed, and the run goes on with another. It takes 20 ms where it has
 * a processor to itself, and half a second in a new process.
 */
export const STEP_MS = 10_000;

/** A process that has not ended its turn this long after its run did is killed. */
export const STOP_MS = 1_000;

/** Processes that may fail in one run before the run fails. */
export const MAX_FAILURES = 2;

/** Between two signs of life while the model is called or tools are: the SDK gives up a silent answer. */
export const PING_MS = 10_000;

/** Of a request to the loopback endpoint. A process repeats all its runs, some hundred bytes a step. */
export const MAX_REQUEST_BYTES = 1024 * 1024;

/** For a request to the loopback endpoint to arrive. */
export const REQUEST_MS = 30_000;

/** Longer than any run; the wall clock of a run is the engine's. */
export const NEVER_MS = 24 * 60 * 60_000;

/** A process's folder in which nothing changed for so long has no process: none carries its runs for a day. */
export const OLD_FOLDER_MS = 24 * 60 * 60_000;

/**
 * Calls that stand for those of one answer, however many it has: each costs a process some 10 ms and 100 KB, and the first is
 * what the engine waits for.
 */
export const MAX_CALLS = 4;
