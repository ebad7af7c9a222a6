/** Local servers that a process of the service runs for one organization. `MCP_LOCAL_SERVERS` limits all of them. */
export const MAX_SERVERS_PER_ORGANIZATION = 10;

/** The delay between a failure of a server and the next start. It doubles with every further failure. */
export const FIRST_RESTART_MS = 1_000;
export const MAX_RESTART_MS = 60_000;
/** A failure after this running time counts as the first. */
export const RAN_WELL_MS = 60_000;

/** The timeout of the probe for the protocol version. Without an answer the client uses the older protocol. */
export const PROBE_MS = 3_000;

/** Requests that a server has not read yet. */
export const MAX_UNREAD_BYTES = 16_777_216;
