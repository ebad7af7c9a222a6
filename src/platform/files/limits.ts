/** S3's smallest part is 5 MiB; an upload has one in memory and one being sent. */
export const S3_PART_BYTES = 5 * 1024 * 1024;
export const S3_CONNECT_MS = 3_000;
/** How long the store may be silent. */
export const S3_SILENCE_MS = 15_000;
/** Including the first. */
export const S3_ATTEMPTS = 3;

/**
 * Only the process of a temporary file that died leaves it unwritten this long: a body must arrive within minutes, and the store
 * fails after some minutes of silence.
 */
export const TEMPORARY_MS = 3_600_000;
export const SWEEP_EVERY_MS = 3_600_000;
