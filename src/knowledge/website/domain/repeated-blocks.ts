import { createHash } from 'node:crypto';
import type { Block } from '../../parsing/domain/parsed-document.js';
import { comparedText, textDigest } from './page-text.js';

/** With fewer different pages nothing counts as boilerplate. */
const MIN_PAGES = 5;
/** The share of pages that a block must be on to become boilerplate, and to stay so in a later crawl: one other page in the sample changes nothing. */
const MIN_SHARE = 0.6;
const MIN_SHARE_KEPT = 0.4;
/** Most blocks that are kept of an origin: the most frequent ones, and of equally frequent ones the first by key. */
const MAX_KEYS = 300;
const KEY_DIGITS = 16;

/**
 * Boilerplate of an origin: blocks that are on most of its pages. Pages with the same text count once.
 * @param pages the sample that is compared
 * @param earlier the result of the crawl before; returned where the sample is too small
 * @returns keys for `withoutRepeated`
 */
export function repeatedBlocks(
  pages: readonly (readonly Block[])[],
  earlier: ReadonlySet<string>,
): ReadonlySet<string> {
  const different = new Map(pages.map((blocks) => [textDigest(blocks), blocks]));
  if (different.size < MIN_PAGES) return earlier;
  const counts = new Map<string, number>();
  for (const blocks of different.values()) {
    for (const key of new Set(blocks.map(keyOf))) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const repeated = [...counts].filter(
    ([key, count]) => count / different.size >= (earlier.has(key) ? MIN_SHARE_KEPT : MIN_SHARE),
  );
  repeated.sort(([leftKey, left], [rightKey, right]) => right - left || (leftKey < rightKey ? -1 : 1));
  return new Set(repeated.slice(0, MAX_KEYS).map(([key]) => key));
}

/**
 * The blocks of a page without boilerplate. A repeated heading is dropped only if everything under it is repeated. A page of
 * nothing but repeated blocks is returned as it is.
 */
export function withoutRepeated(blocks: readonly Block[], repeated: ReadonlySet<string>): readonly Block[] {
  if (repeated.size === 0) return blocks;
  const isRepeated = blocks.map((block) => repeated.has(keyOf(block)));
  const own = blocks.filter(
    (block, index) => !isRepeated[index] || (block.kind === 'heading' && !leadsRepeated(blocks, isRepeated, index)),
  );
  return own.some(({ kind }) => kind !== 'heading') ? own : blocks;
}

/** Whether there are blocks under a heading, and all of them are repeated. */
function leadsRepeated(blocks: readonly Block[], isRepeated: readonly boolean[], index: number): boolean {
  const heading = blocks[index];
  const level = heading?.kind === 'heading' ? heading.level : 0;
  const end = blocks.findIndex((block, at) => at > index && block.kind === 'heading' && block.level <= level);
  const under = isRepeated.slice(index + 1, end === -1 ? undefined : end);
  return under.length > 0 && under.every(Boolean);
}

function keyOf(block: Block): string {
  return createHash('sha256').update(comparedText(block)).digest('hex').slice(0, KEY_DIGITS);
}
