import { EgressFailed } from './egress.errors.js';

export interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
}

const REDIRECTS = [301, 302, 303, 307, 308];
/** Headers that describe the client and contain no secret. */
const HARMLESS_HEADERS = ['accept', 'accept-language', 'user-agent'];

/** The location of a response; undefined unless it is a redirect. */
export function locationOf(status: number, location: string | undefined): string | undefined {
  return REDIRECTS.includes(status) ? location : undefined;
}

/**
 * The next request. At another origin it loses all headers that could be secrets, also for a later return to the first origin, which
 * the other one would control.
 * @throws EgressFailed if the body would be sent to another origin
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
