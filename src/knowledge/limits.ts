/** One uploaded file. Contract, section 5. */
export const MAX_UPLOAD_BYTES = 50 * 1024 * 1024;
/** One page of a crawl, after decompression. Contract, section 5. */
export const MAX_PAGE_BYTES = 10 * 1024 * 1024;
/** How long `hasChunks` is answered from memory: every run asks. */
export const HAS_CHUNKS_CACHE_MS = 5_000;
export const HAS_CHUNKS_CACHED_AGENTS = 10_000;
