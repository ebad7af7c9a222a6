import { ACCEPTED_CODINGS } from './decoded-body.js';
import { USER_AGENT } from './limits.js';

/** They belong to the connection, or would say another length or host than what is really sent. */
const OF_THE_CONNECTION = [
  ...['host', 'connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'trailer', 'upgrade'],
  ...['content-length', 'expect', 'accept-encoding', 'proxy-authorization', 'http2-settings'],
];

/** The caller's headers, names in lower case, with those that this client alone decides. */
export function requestHeaders(given: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const kept = Object.entries(given)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !OF_THE_CONNECTION.includes(name));
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
