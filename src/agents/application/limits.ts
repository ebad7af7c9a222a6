/** How old an agent may be that a run runs on, when another process changed it. */
export const AGENT_CACHE_MS = 5_000;

/** Beyond it the agents used least recently are read again; with the longest prompts this is 200 MB. */
export const AGENT_CACHE_ENTRIES = 500;

/** What the changes of one page of versions may come to, in bytes of JSON; a version that is larger comes alone. */
export const VERSIONS_PAGE_BYTES = 8 * 1024 * 1024;
