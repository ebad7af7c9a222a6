/** Local servers that a process of the service runs for one organization; `MCP_LOCAL_SERVERS` bounds all of them. */
export const MAX_SERVERS_PER_ORGANIZATION = 10;

/** Between the failure of a server and the next attempt: doubled with every failure that follows. */
export const FIRST_RESTART_MS = 1_000;
export const MAX_RESTART_MS = 60_000;
/** A server that ran for this long has not failed over and over. */
export const RAN_WELL_MS = 60_000;

/** For a server to answer which protocol it speaks; one that is silent to the question is asked in the older way. */
export const PROBE_MS = 3_000;

/** What a server has not read yet of its requests. */
export const MAX_UNREAD_BYTES = 16_777_216;
