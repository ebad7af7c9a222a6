import type { EgressResponse } from '../../platform/egress/index.js';
import { MAX_RETRY_AFTER_MS, RETRY_DELAY_MS } from './limits.js';

/**
 * How long to wait before a page that could not be had for now is asked for again: from 2 s, four times as long each time, to 5 minutes, of which up to
 * half is left to chance, and never less than the server asked for (of which an hour counts at most).
 * @param attempt requests that failed in a row; 1 after the first
 * @param retryAfterMs what the server asked for; null where it did not
 * @param jitter from 0 to 1, by chance: pages that failed together are not to come back together
 */
export function retryDelayMs(attempt: number, retryAfterMs: number | null, jitter: number): number {
  const failures = Math.min(Math.max(attempt - 1, 0), 30);
  const longest = Math.min(RETRY_DELAY_MS.first * 4 ** failures, RETRY_DELAY_MS.last);
  const backoff = Math.round(longest * (1 - jitter / 2));
  return Math.max(backoff, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
}

/** How long an answer wants its whole host to be left alone; 0 where it does not. 429 speaks of all that is asked of a host, and so does 503 where it says until when. */
export function hostPauseMs({ status, headers }: Pick<EgressResponse, 'status' | 'headers'>, now: Date): number {
  if (status !== 429 && status !== 503) return 0;
  return retryAfterMs(headers['retry-after'], now) ?? (status === 429 ? RETRY_DELAY_MS.first : 0);
}

const HTTP_DATE = /^[a-z]{3,9},? \d{1,2}[ -][a-z]{3}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$|^[a-z]{3} [a-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/i;

/** A `Retry-After` header, from 0 to an hour; null where it is absent or neither seconds nor an HTTP date. */
export function retryAfterMs(header: string | undefined, now: Date): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, MAX_RETRY_AFTER_MS);
  if (!HTTP_DATE.test(text)) return null;
  // Its oldest form does not say that it is in GMT.
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(time) ? null : Math.min(Math.max(time - now.getTime(), 0), MAX_RETRY_AFTER_MS);
}
