import { type EgressResponse, retryAfterMs } from '../../../platform/egress/index.js';
import { MAX_RETRY_AFTER_MS, RETRY_DELAY_MS } from '../limits.js';

/**
 * The pause before a page is requested again: 2 s, then four times as long each time up to 5 minutes, less up to half of it at
 * random. Never shorter than what the server asks for, of which an hour counts at most.
 * @param attempt requests that failed in a row; 1 after the first
 * @param askedMs what the server asks for; null for nothing
 * @param jitter random, from 0 to 1, so that pages that failed together are not retried together
 */
export function retryDelayMs(attempt: number, askedMs: number | null, jitter: number): number {
  const failures = Math.min(Math.max(attempt - 1, 0), 30);
  const longest = Math.min(RETRY_DELAY_MS.first * 4 ** failures, RETRY_DELAY_MS.last);
  const backoff = Math.round(longest * (1 - jitter / 2));
  return Math.max(backoff, Math.min(askedMs ?? 0, MAX_RETRY_AFTER_MS));
}

/** The pause of a response's `Retry-After`, an hour at most; null without one. */
export function askedPauseMs({ headers }: Pick<EgressResponse, 'headers'>, now: Date): number | null {
  const ms = retryAfterMs(headers['retry-after'], now);
  return ms === null ? null : Math.min(ms, MAX_RETRY_AFTER_MS);
}

/** The pause that a response asks for its whole host; 0 for none. 429 applies to the host, and so does 503 with `Retry-After`. */
export function hostPauseMs(response: Pick<EgressResponse, 'status' | 'headers'>, now: Date): number {
  if (response.status !== 429 && response.status !== 503) return 0;
  return askedPauseMs(response, now) ?? (response.status === 429 ? RETRY_DELAY_MS.first : 0);
}
