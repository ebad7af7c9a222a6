/** The smallest part that S3 takes is 5 MiB; an upload holds one of these in memory and one more on its way. */
export const S3_PART_BYTES = 5 * 1024 * 1024;
export const S3_CONNECT_MS = 3_000;
/** How long the store may say nothing. */
export const S3_SILENCE_MS = 15_000;
/** The first one included. */
export const S3_ATTEMPTS = 3;

/**
 * A temporary file is left unwritten this long only when its process died: a body has to arrive within minutes, and
 * the store gives up after some minutes of silence.
 */
export const TEMPORARY_MS = 3_600_000;
export const SWEEP_EVERY_MS = 3_600_000;
