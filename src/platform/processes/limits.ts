/** Resident memory of a child and its descendants together; more ends them. */
export const MAX_MEMORY_BYTES = 512 * 1024 * 1024;

/**
 * Private memory that one process may have mapped, in KiB: stops at once what allocates faster than it is measured.
 * Four times as much as is tolerated, since a runtime maps far more than it ever uses; Node some 600 MiB from its start.
 */
export const MAX_MAPPED_KIB = 2 * 1024 * 1024;

/** A child and its descendants, the watcher included; more ends them. */
export const MAX_PROCESSES = 64;

/** Of one process. */
export const MAX_OPEN_FILES = 512;

/** One file, in the blocks of 512 bytes that a shell counts. */
export const MAX_FILE_BLOCKS = 512 * 1024;

/** Between two measurements of memory and processes. */
export const WATCH_EVERY_MS = 500;

/** For a child to end after its input ended, and once more after `SIGTERM`; then it is killed. */
export const CLOSE_STEP_MS = 1_000;
