/** Resolving the name, connecting and the TLS handshake together. */
export const CONNECT_MS = 10_000;
/** Addresses of one name that are tried; further ones usually serve load balancing, not reachability. */
export const MAX_ADDRESSES = 4;
/** Bytes by which a compressed body may exceed the limit of its content: headers and checksums of the format. */
export const CODING_OVERHEAD_BYTES = 65_536;
/** An idle connection is closed after this time, before the server closes it while a request is being sent. */
export const KEEP_ALIVE_MS = 4_000;
export const USER_AGENT = 'agent-service/1.0';
