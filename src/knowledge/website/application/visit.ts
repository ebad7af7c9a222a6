import { secureRandomBytes } from '../../../platform/ids/index.js';
import type { ScopedPage } from '../domain/crawl-scope.js';
import type { PageContent } from '../domain/held-page.js';
import { retryDelayMs } from '../domain/retry-delay.js';
import { MAX_PAUSE_MS, MAX_TRIES } from '../limits.js';
import type { ClaimedPage, FoundPage, NotedVisit } from '../persistence/crawl-pages.repository.js';

/** What one visit to a page came to; nothing of it is stored yet. */
export interface Visit {
  readonly page: ClaimedPage;
  /** Pages that it leads to. */
  readonly found: readonly FoundPage[];
  /** What became of the page; null where its content tells. */
  readonly note: NotedVisit | null;
  /** What the index is to have of the page. */
  readonly content: PageContent | null;
  /** What was read of another page, to which the server has redirected. */
  readonly arrived?: Arrival;
}

export interface Arrival {
  readonly at: ScopedPage;
  readonly content: PageContent;
  readonly noindex: boolean;
}

export function visitOf(page: ClaimedPage, note: NotedVisit, found: readonly FoundPage[] = []): Visit {
  return { page, note, found, content: null };
}

/** @param gone the server says that there is no such page, so what was known of it says nothing of what the next crawl finds */
export function failedNote({ id }: ClaimedPage, reason: string, gone = false): NotedVisit {
  return { id, state: 'done', outcome: 'failed', reason, gone, forget: gone };
}

/** What was known of the page says nothing of what the next crawl finds. */
export function skippedNote(id: string, reason: string): NotedVisit {
  return { id, state: 'done', outcome: 'skipped', reason, forget: true };
}

export function movedNote({ id }: ClaimedPage, to: string): NotedVisit {
  return skippedNote(id, `It redirects to ${to}, which is a page of its own.`);
}

/**
 * It is tried again, unless it was tried often enough or would have to wait for too long.
 * @param retryAfterMs as the server asks; null where it does not
 */
export function laterNote(
  { id, attempts }: ClaimedPage,
  reason: string,
  now: Date,
  retryAfterMs: number | null = null,
): NotedVisit {
  const pauseMs = retryDelayMs(attempts, retryAfterMs, secureRandomBytes(1).readUInt8() / 255);
  if (attempts >= MAX_TRIES || pauseMs > MAX_PAUSE_MS) return { id, state: 'done', outcome: 'failed', reason };
  return { id, state: 'pending', outcome: null, reason, availableAt: new Date(now.getTime() + pauseMs) };
}

export function ofReading(
  page: ClaimedPage,
  content: PageContent,
  noindex: boolean,
): Pick<Visit, 'page' | 'note' | 'content'> {
  if (!noindex) return { page, note: null, content };
  return { page, note: skippedNote(page.id, 'The page asks not to be indexed (noindex).'), content: null };
}
