import { essenceOf } from './request-body.js';
import { Refusal } from './problems.js';

/** Names of headers, as a browser lists them in a preflight. */
const HEADER_NAMES = /^[\w-]+(, ?[\w-]+)*$/;
const MAX_HEADER_NAMES = 1_000;
const PREFLIGHT_SECONDS = '600';

/**
 * Refuses requests that pages of other sites have sent with the visitor's cookies. Browsers let no page change `Origin` and
 * `Sec-Fetch-Site`; a form can be sent without them by an old browser, JSON cannot.
 * @throws Refusal
 */
export function requireOwnOrigin(request: Request, allowed: ReadonlySet<string>): void {
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site');
  if (site === 'same-origin') return;
  if (
    origin === null ? isFromNoPage(request, site) : isAllowed(origin, allowed) || origin === new URL(request.url).origin
  )
    return;
  throw new Refusal(403, 'forbidden_origin', 'Pages of this origin may not use the chat.');
}

/** The headers with which the browser lets a page of an allowed origin read the response. */
export function crossOriginHeaders(request: Request, allowed: ReadonlySet<string>): Readonly<Record<string, string>> {
  if (allowed.size === 0) return {};
  const origin = request.headers.get('origin');
  if (origin === null || !isAllowed(origin, allowed)) return { vary: 'origin' };
  return {
    vary: 'origin',
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'retry-after',
  };
}

/** The answer to the question of a browser whether a page of another origin may send a request. */
export function preflight(request: Request, method: string): Response {
  const asked = request.headers.get('access-control-request-headers') ?? '';
  const isList = asked.length <= MAX_HEADER_NAMES && HEADER_NAMES.test(asked);
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': method,
      // The allowed origins are trusted, and may have headers of their own that tell who the visitor is.
      'access-control-allow-headers': isList ? asked : 'content-type',
      'access-control-max-age': PREFLIGHT_SECONDS,
    },
  });
}

function isAllowed(origin: string, allowed: ReadonlySet<string>): boolean {
  return allowed.has(origin);
}

function isFromNoPage(request: Request, site: string | null): boolean {
  if (site !== null && site !== 'none') return false;
  return request.method === 'GET' || essenceOf(request.headers.get('content-type')) === 'application/json';
}
