import type { Seams } from './seams.js';

/** A browser keeps a request without an answer open for minutes. */
const LONGEST_MS = 30_000;

/** Sends a request to the customer's server, with the cookies of the customer's site, which identify the visitor. */
export function askEndpoint(
  endpoint: string,
  { method, body }: { readonly method: 'GET' | 'POST'; readonly body?: unknown },
  seams: Seams,
  signal: AbortSignal,
): Promise<Response> {
  return seams.fetch(endpoint, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    credentials: isOwn(endpoint, seams) ? 'same-origin' : 'include',
    cache: 'no-store',
    signal,
  });
}

/**
 * Ends work of the customer's page or server that takes longer than 30 s.
 * @throws Error when the time is over; the signal's reason when it aborts; what the work throws
 */
export async function inTime<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  { sleep }: Seams,
  signal: AbortSignal,
): Promise<Result> {
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const tooLong = sleep(LONGEST_MS, both).then(() => {
    throw new Error("The page's server did not answer in time");
  });
  try {
    // A function of the page may also throw before it returns its promise.
    const working = (async () => work(both))();
    return await Promise.race([working, tooLong]);
  } finally {
    ended.abort();
  }
}

function isOwn(endpoint: string, { location }: Seams): boolean {
  return !location || new URL(endpoint, location.origin).origin === location.origin;
}
