/** S3's smallest part is 5 MiB; an upload has one in memory and one being sent. */
export const S3_PART_BYTES = 5 * 1024 * 1024;
export const S3_CONNECT_MS = 3_000;
/** How long the store may be silent. */
export const S3_SILENCE_MS = 15_000;
/** Including the first. */
export const S3_ATTEMPTS = 3;

/**
 * The process of a temporary file that was not written for this long has died: a body must arrive within minutes, and the store
 * fails after some minutes of silence.
 */
export const TEMPORARY_MS = 3_600_000;
export const SWEEP_EVERY_MS = 3_600_000;
