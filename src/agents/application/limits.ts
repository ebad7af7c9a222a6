/** How long a run may use an agent that another process has changed. */
export const AGENT_CACHE_MS = 5_000;

/** With the longest prompts, the cache takes 200 MB. */
export const AGENT_CACHE_ENTRIES = 500;

/** Bytes of JSON of the changes in one page of versions; a larger version is alone on its page. */
export const VERSIONS_PAGE_BYTES = 8 * 1024 * 1024;

/** The newest versions of an agent, which are kept. */
export const KEPT_VERSIONS = 200;
/** Versions that one transaction removes: some may be large. */
export const PURGED_VERSIONS = 50;
export const PURGE_VERSIONS_EVERY_MINUTES = 24 * 60;
