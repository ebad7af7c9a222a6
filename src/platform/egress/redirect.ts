import { EgressFailed } from './egress.errors.js';

/** What is sent at one step of a chain of redirects. */
export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
}

const REDIRECTS = [301, 302, 303, 307, 308];
/** Say what the client is like, never who it is. */
const HARMLESS_HEADERS = ['accept', 'accept-language', 'user-agent'];

/** Where an answer points to; undefined unless it is a redirect. */
export function locationOf(status: number, location: string | undefined): string | undefined {
  return REDIRECTS.includes(status) ? location : undefined;
}

/**
 * The next step. Across an origin everything that could be a secret stays behind, for good: the way back
 * would lead it through a stranger's redirect.
 * @throws EgressFailed where the body would have to go to another origin
 */
export function followed(hop: Hop, status: number, url: URL): Hop {
  const sameOrigin = url.origin === hop.url.origin;
  const becomesGet = turnsToGet(status, hop.method);
  if (!becomesGet && hop.body !== undefined && !sameOrigin) {
    throw new EgressFailed('redirect', { detail: 'a body would cross an origin' });
  }
  return {
    url,
    method: becomesGet ? 'GET' : hop.method,
    headers: sameOrigin
      ? without(hop.headers, (name) => becomesGet && name.startsWith('content-'))
      : without(hop.headers, (name) => !HARMLESS_HEADERS.includes(name)),
    body: becomesGet ? undefined : hop.body,
  };
}

function turnsToGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD';
  return (status === 301 || status === 302) && method === 'POST';
}

function without(
  headers: Readonly<Record<string, string>>,
  isLeftOut: (name: string) => boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isLeftOut(name)));
}
