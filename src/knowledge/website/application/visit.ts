import { secureRandomBytes } from '../../../platform/ids/index.js';
import type { ScopedPage } from '../domain/crawl-scope.js';
import type { PageContent } from '../domain/held-page.js';
import { retryDelayMs } from '../domain/retry-delay.js';
import { MAX_PAUSE_MS, MAX_TRIES } from '../limits.js';
import type { ClaimedPage, FoundPage, VisitNote } from '../persistence/crawl-pages.repository.js';

/** The result of one visit to a page, before anything of it is stored. */
export interface Visit {
  readonly page: ClaimedPage;
  /** Pages that it links or redirects to. */
  readonly found: readonly FoundPage[];
  /** The page's outcome; null where `content` is to be stored. */
  readonly note: VisitNote | null;
  /** What the index stores of the page. */
  readonly content: PageContent | null;
  /** The content of another page, to which the server redirected. */
  readonly redirectedTo?: RedirectTarget;
}

export interface RedirectTarget {
  readonly page: ScopedPage;
  readonly content: PageContent;
  readonly noindex: boolean;
}

export function visitWithNote(page: ClaimedPage, note: VisitNote, found: readonly FoundPage[] = []): Visit {
  return { page, note, found, content: null };
}

/** @param isMissing the server answered 404 or 410, so the next crawl fetches it as a new page */
export function failedNote({ id }: ClaimedPage, reason: string, isMissing = false): VisitNote {
  return { id, state: 'done', outcome: 'failed', reason, isMissing, forget: isMissing };
}

/** The next crawl fetches it as a new page. */
export function skippedNote(id: string, reason: string): VisitNote {
  return { id, state: 'done', outcome: 'skipped', reason, forget: true };
}

export function redirectNote({ id }: ClaimedPage, to: string): VisitNote {
  return skippedNote(id, `It redirects to ${to}, which is another page.`);
}

/**
 * The page is tried again, unless it had `MAX_TRIES` or the pause is longer than a crawl waits for.
 * @param retryAfterMs of the server's answer; null where it names none
 */
export function retryNote(
  { id, attempts }: ClaimedPage,
  reason: string,
  now: Date,
  retryAfterMs: number | null = null,
): VisitNote {
  const pauseMs = retryDelayMs(attempts, retryAfterMs, secureRandomBytes(1).readUInt8() / 255);
  if (attempts >= MAX_TRIES || pauseMs > MAX_PAUSE_MS) return { id, state: 'done', outcome: 'failed', reason };
  return { id, state: 'pending', outcome: null, reason, availableAt: new Date(now.getTime() + pauseMs) };
}

export function visitWithContent(
  page: ClaimedPage,
  content: PageContent,
  noindex: boolean,
): Pick<Visit, 'page' | 'note' | 'content'> {
  if (!noindex) return { page, note: null, content };
  return { page, note: skippedNote(page.id, 'The page asks not to be indexed (noindex).'), content: null };
}
