/**
 * How long a run may use sections that were changed outside of the service. A change by the service raises the agent's version,
 * which is part of the cache key.
 */
export const PROMPT_CACHE_MS = 5_000;

export const PROMPT_CACHE_ENTRIES = 200;

/** UTF-16 code units of one entry; longer instructions are read for each run. Bounds the cache to 200 MB. */
export const MAX_PROMPT_CACHE = 500_000;
