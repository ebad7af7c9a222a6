/**
 * How old sections may be that a run runs on, when something else than this service wrote them. What the
 * service writes raises the agent's version, which is part of the key.
 */
export const PROMPT_CACHE_MS = 5_000;

/** Beyond it the agents used least recently are read again. */
export const PROMPT_CACHE_ENTRIES = 200;

/** In UTF-16 code units. Longer instructions are read for each run: with the figure above, this is 200 MB at most. */
export const MAX_PROMPT_CACHE = 500_000;
