/** Resolving the name, connecting and the TLS handshake together. */
export const CONNECT_MS = 10_000;
/** Addresses of one name that are tried; names with more have them for balance, not for reachability. */
export const MAX_ADDRESSES = 4;
/** What a compressed body may be longer than its content may: headers and checksums of the format. */
export const CODING_OVERHEAD_BYTES = 65_536;
/** An idle connection is closed after this time: servers close theirs too, and a request then meets a dead one. */
export const KEEP_ALIVE_MS = 4_000;
export const USER_AGENT = 'agent-service/1.0';
