import { createHash } from 'node:crypto';
import type { Block } from '../../parsing/domain/parsed-document.js';
import { comparedText, textDigest } from './page-text.js';

/** With fewer pages that differ nothing can be said. */
const MIN_PAGES = 5;
/** Of the pages, those on which a block must stand to be boilerplate, and to stay so in a later crawl: a sample that differs by a page changes nothing. */
const MIN_SHARE = 0.6;
const MIN_SHARE_KEPT = 0.4;
/** Blocks that are kept of a site: those on the most pages, of equally frequent ones by their keys. */
const MAX_KEYS = 300;
const KEY_DIGITS = 16;

/**
 * What is boilerplate on a site: blocks that stand on most of its pages. Pages with one text count once.
 * @param pages of a sample
 * @param earlier what was, by the sample before; it stays where this one says nothing
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
 * A page's own text. A repeated heading goes only where repeated blocks alone stand under it; a page of nothing but repeated
 * blocks stays as it is.
 */
export function withoutRepeated(blocks: readonly Block[], repeated: ReadonlySet<string>): readonly Block[] {
  if (repeated.size === 0) return blocks;
  const isRepeated = blocks.map((block) => repeated.has(keyOf(block)));
  const own = blocks.filter(
    (block, index) => !isRepeated[index] || (block.kind === 'heading' && !leadsRepeated(blocks, isRepeated, index)),
  );
  return own.some(({ kind }) => kind !== 'heading') ? own : blocks;
}

/** Whether what stands under a heading, of which there is something, is repeated. */
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
