import { PRODUCT_TOKEN } from '../limits.js';

/** Rules that take a value after a colon, as agents take their rules. */
const RULES_WITH_VALUES = ['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'];

/**
 * Whether an `X-Robots-Tag` header forbids this crawler to index the answer. An agent's name counts for the rules that
 * follow it, up to the next name; headers that were sent separately come joined and cannot be told apart.
 */
export function forbidsIndexing(header: string | undefined): boolean {
  let concerned = true;
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const colon = part.indexOf(':');
    const name = part.slice(0, Math.max(colon, 0)).trim();
    const isAgent = colon !== -1 && !RULES_WITH_VALUES.includes(name);
    if (isAgent) concerned = name === PRODUCT_TOKEN || name === '*';
    const rule = (isAgent ? part.slice(colon + 1) : part).trim();
    if (concerned && (rule === 'noindex' || rule === 'none')) return true;
  }
  return false;
}
