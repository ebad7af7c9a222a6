import { ACCEPTED_CODINGS } from './decoded-body.js';
import { USER_AGENT } from './limits.js';

/** They belong to the connection, or would say another length or host than what is really sent. */
const OF_THE_CONNECTION = new Set([
  ...['host', 'connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade'],
  ...['content-length', 'expect', 'accept-encoding', 'http2-settings'],
]);

/** Whether a header is this client's alone to set: whatever a caller gives for it is not sent. */
export function isConnectionHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return OF_THE_CONNECTION.has(lower) || lower.startsWith('proxy-');
}

/** The caller's headers, names in lower case, with those that this client alone decides. */
export function requestHeaders(given: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const kept = Object.entries(given)
    .filter(([name]) => !isConnectionHeader(name))
    .map(([name, value]) => [name.toLowerCase(), value] as const);
  return { 'user-agent': USER_AGENT, accept: '*/*', ...Object.fromEntries(kept), 'accept-encoding': ACCEPTED_CODINGS };
}

/** An answer's headers, as `EgressResponse` has them. */
export function responseHeaders(
  raw: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(raw).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
