/** Resident memory of a child and its descendants together; above it they are killed. */
export const MAX_MEMORY_BYTES = 512 * 1024 * 1024;

/**
 * Private memory that one process may map, in KiB: a limit for processes that allocate faster than they are measured. It is four
 * times the limit above, because a runtime maps far more than it uses; Node maps some 600 MiB at its start.
 */
export const MAX_MAPPED_KIB = 2 * 1024 * 1024;

/** A child and its descendants, including the background process of the shell; above it they are killed. */
export const MAX_PROCESSES = 64;

/** Of one process. */
export const MAX_OPEN_FILES = 512;

/** One file, in the blocks of 512 bytes that a shell counts. */
export const MAX_FILE_BLOCKS = 512 * 1024;

/** Interval of the measurements of memory and processes. */
export const WATCH_EVERY_MS = 500;

/** Time in which a child ends after its input has ended, and again after `SIGTERM`; then it is killed. */
export const CLOSE_STEP_MS = 1_000;
