import { type EgressResponse, retryAfterMs } from '../../../platform/egress/index.js';
import { MAX_RETRY_AFTER_MS, RETRY_DELAY_MS } from '../limits.js';

/**
 * How long to wait before a page that could not be had for now is asked for again: from 2 s, four times as long each time, to 5 minutes, of which up to
 * half is left to chance, and never less than the server asked for (of which an hour counts at most).
 * @param attempt requests that failed in a row; 1 after the first
 * @param askedMs what the server asked for; null where it did not
 * @param jitter from 0 to 1, by chance: pages that failed together are not to come back together
 */
export function retryDelayMs(attempt: number, askedMs: number | null, jitter: number): number {
  const failures = Math.min(Math.max(attempt - 1, 0), 30);
  const longest = Math.min(RETRY_DELAY_MS.first * 4 ** failures, RETRY_DELAY_MS.last);
  const backoff = Math.round(longest * (1 - jitter / 2));
  return Math.max(backoff, Math.min(askedMs ?? 0, MAX_RETRY_AFTER_MS));
}

/** What an answer asks for in `Retry-After`, an hour at most; null where it does not. */
export function askedPauseMs({ headers }: Pick<EgressResponse, 'headers'>, now: Date): number | null {
  const ms = retryAfterMs(headers['retry-after'], now);
  return ms === null ? null : Math.min(ms, MAX_RETRY_AFTER_MS);
}

/** How long an answer wants its whole host to be left alone; 0 where it does not. 429 speaks of all that is asked of a host, and so does 503 where it says until when. */
export function hostPauseMs(answer: Pick<EgressResponse, 'status' | 'headers'>, now: Date): number {
  if (answer.status !== 429 && answer.status !== 503) return 0;
  return askedPauseMs(answer, now) ?? (answer.status === 429 ? RETRY_DELAY_MS.first : 0);
}
