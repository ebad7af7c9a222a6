/** Read, hashed and compressed at a time. Hashing one blocks the thread for less than a millisecond. */
export const CHUNK_BYTES = 256 * 1024;

/** A backup describes itself in less; more is not read into memory. */
export const MAX_DESCRIPTION_BYTES = 1024 * 1024;

/** The digests of a backup: some 150 bytes for each file. */
export const MAX_DIGESTS_BYTES = 512 * 1024 * 1024;
