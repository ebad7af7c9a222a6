/** Connecting to a tool server, its handshake included. Contract, section 7. */
export const CONNECT_MS = 10_000;

/** One tool call. Contract, section 7. */
export const CALL_MS = 60_000;

/** One message of a server, after decompression. Contract, section 14. */
export const MAX_MESSAGE_BYTES = 1_048_576;

/** What agents have of integrations is kept in memory for this time; what another process changes shows within it. */
export const AGENT_TOOLS_CACHE_MS = 5_000;
export const AGENT_TOOLS_CACHE_ENTRIES = 2_000;

/** Tool lists in memory, by server and by agent, as characters of JSON, the least recently used going first. */
export const TOOL_LISTS_CACHE_BYTES = 64 * 1024 * 1024;

/**
 * For how long a process does not send a refused schema to the same model provider again, unless the server has listed its tools
 * meanwhile; and for how many integrations a process remembers refusals.
 */
export const REFUSED_SCHEMA_MS = 5 * 60_000;
export const MAX_REFUSED_SCHEMAS = 10_000;

/** A server that answered is asked for its tools again after this time, besides when it says that they have changed. */
export const LIST_TTL_MS = 5 * 60_000;

/** And one that did not answer. */
export const LIST_RETRY_MS = 30_000;

/** How long a run waits for a server of which nothing is known yet; then it goes on without its tools. */
export const OFFER_WAIT_MS = 5_000;

/** How long the browser that comes back from a sign-in waits until the server has been asked for its tools. */
export const SIGNED_IN_WAIT_MS = 5_000;

/** More of one agent are refused: each is a connection of its own, and every run asks all of them. */
export const MAX_INTEGRATIONS_PER_AGENT = 50;

/** A server that says again and again that its tools have changed is asked once in this time. */
export const CHANGED_LIST_MS = 5_000;

/**
 * What one agent is offered of all its integrations, in the order in which they were attached; an integration that does
 * not fit any more is left out whole. Every run holds and looks at all of it.
 */
export const MAX_AGENT_TOOLS = 2_000;
export const MAX_AGENT_TOOL_BYTES = 4 * 1024 * 1024;

/** How often a process looks whether the integrations of its open connections are still there. */
export const REMOVED_EVERY_MS = 10_000;

/** And how often whether those are whose servers have left a folder, that many at once. */
export const FOLDERS_EVERY_MS = 60 * 60_000;
export const FOLDERS_BATCH = 500;

/** A younger folder may be that of an integration that is just being made. */
export const FOLDER_LEFT_MS = 10 * 60_000;
