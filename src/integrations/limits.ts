/** Connecting to a tool server, its handshake included. Contract, section 7. */
export const CONNECT_MS = 10_000;

/** One tool call. Contract, section 7. */
export const CALL_MS = 60_000;

/** One message of a server, after decompression. Contract, section 14. */
export const MAX_MESSAGE_BYTES = 1_048_576;

/** How long a process caches the integrations of agents: the delay until it sees another process's changes. */
export const AGENT_TOOLS_CACHE_MS = 5_000;
export const AGENT_TOOLS_CACHE_ENTRIES = 2_000;

/** The size of cached tool lists, by server and by agent, in characters of JSON. The least recently used are evicted. */
export const TOOL_LISTS_CACHE_BYTES = 64 * 1024 * 1024;

/**
 * For how long a process does not send a refused schema to the same model provider again, unless the server has listed its tools
 * again; and for how many integrations a process remembers refusals.
 */
export const REFUSED_SCHEMA_MS = 5 * 60_000;
export const MAX_REFUSED_SCHEMAS = 10_000;

/** A server that answered is checked again after this time, or when it notifies that its tools have changed. */
export const LIST_TTL_MS = 5 * 60_000;

/** A server that failed is checked again after this time. */
export const LIST_RETRY_MS = 30_000;

/** How long a run waits for a server that was never checked; then it continues without its tools. */
export const OFFER_WAIT_MS = 5_000;

/** How long the redirect after a sign-in waits for the check of the server. */
export const SIGNED_IN_WAIT_MS = 5_000;

/** The limit per agent: each integration is a connection, and every run uses all of them. */
export const MAX_INTEGRATIONS_PER_AGENT = 50;

/** A server that keeps notifying of changed tools is checked at most once in this time. */
export const CHANGED_LIST_MS = 5_000;

/**
 * The tools of all integrations that one agent is offered, in the order of attachment. An integration that does not fit is left out as
 * a whole. Every run holds all of them in memory.
 */
export const MAX_AGENT_TOOLS = 2_000;
export const MAX_AGENT_TOOL_BYTES = 4 * 1024 * 1024;

/** How often a process looks whether the integrations of its open connections still exist. */
export const REMOVED_EVERY_MS = 10_000;

/** How often a process looks for folders of removed integrations, and how many one statement looks up. */
export const FOLDERS_EVERY_MS = 60 * 60_000;
export const FOLDERS_BATCH = 500;

/** A younger folder may belong to an integration that is being created. */
export const FOLDER_LEFT_MS = 10 * 60_000;
