import { ACCEPTED_CODINGS } from './decoded-body.js';
import { USER_AGENT } from './limits.js';

/** Headers of the connection, or that could contradict the length or host of the request. */
const OF_THE_CONNECTION = new Set([
  ...['host', 'connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade'],
  ...['content-length', 'expect', 'accept-encoding', 'http2-settings'],
]);

/** Whether only this client sets the header, and ignores a caller's value. */
export function isConnectionHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return OF_THE_CONNECTION.has(lower) || lower.startsWith('proxy-');
}

/** The caller's headers with names in lower case, and those that this client sets. */
export function requestHeaders(given: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const kept = Object.entries(given)
    .filter(([name]) => !isConnectionHeader(name))
    .map(([name, value]) => [name.toLowerCase(), value] as const);
  return { 'user-agent': USER_AGENT, accept: '*/*', ...Object.fromEntries(kept), 'accept-encoding': ACCEPTED_CODINGS };
}

export function responseHeaders(
  raw: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(raw).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
