import type { BlockList } from '../formats/block-list.js';
import type { Line } from './pdf-lines.js';

export interface PageLines {
  readonly page: number;
  readonly lines: readonly Line[];
}

/** Letters of a heading are larger than those of the text by so much, and it is short. */
const HEADING_FACTOR = 1.15;
const MAX_HEADING_CHARACTERS = 200;
/** Of the height of a line, from one base line to the next: more separates paragraphs. */
const PARAGRAPH_FACTOR = 1.6;
/** Larger sizes are levels of their own, up to so many. */
const LEVELS = 3;

/** The size that most letters have. */
function textSize(pages: readonly PageLines[]): number {
  const characters = new Map<number, number>();
  for (const { lines } of pages) for (const { size, text } of lines) characters.set(half(size), (characters.get(half(size)) ?? 0) + text.length);
  let [usual, most] = [0, 0];
  for (const [size, count] of characters) if (count > most) [usual, most] = [size, count];
  return usual;
}

const half = (size: number): number => Math.round(size * 2) / 2;

function headingLevels(pages: readonly PageLines[], usual: number): ReadonlyMap<number, number> {
  const sizes = new Set<number>();
  for (const { lines } of pages) for (const line of lines) if (isHeading(line, usual)) sizes.add(half(line.size));
  return new Map([...sizes].sort((a, b) => b - a).map((size, index) => [size, Math.min(LEVELS, index + 1)]));
}

function isHeading({ size, text }: Line, usual: number): boolean {
  return usual > 0 && size > usual * HEADING_FACTOR && text.length <= MAX_HEADING_CHARACTERS && /\p{L}/u.test(text);
}

export function addPages(pages: readonly PageLines[], blocks: BlockList): void {
  const usual = textSize(pages);
  const levels = headingLevels(pages, usual);
  for (const { page, lines } of pages) {
    blocks.page = page;
    for (const group of groups(lines, usual)) {
      const [first] = group;
      const text = group.reduce((joined, line) => join(joined, line.text), '');
      if (first && isHeading(first, usual) && text.length <= MAX_HEADING_CHARACTERS) blocks.heading(levels.get(half(first.size)) ?? LEVELS, text);
      else blocks.text(text);
    }
  }
  blocks.page = undefined;
}

/** Lines that follow closely upon each other and are of one kind. */
function groups(lines: readonly Line[], usual: number): readonly (readonly Line[])[] {
  const found: Line[][] = [];
  for (const line of lines) {
    const before = found.at(-1)?.at(-1);
    if (before && belongs(before, line, usual)) found.at(-1)?.push(line);
    else found.push([line]);
  }
  return found;
}

function belongs(before: Line, line: Line, usual: number): boolean {
  if (isHeading(before, usual) !== isHeading(line, usual)) return false;
  if (isHeading(line, usual) && half(before.size) !== half(line.size)) return false;
  const gap = before.y - line.y;
  // Further up: the next column.
  return gap > -line.size && gap < Math.max(before.size, line.size) * PARAGRAPH_FACTOR;
}

const IDEOGRAPHIC = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}、。，．]/u;
const ITEM = /^(?:[•‣◦▪●–—*-]|\d{1,3}[.)]|[a-z]\))\s/;

/** A word that was divided at the end of its line is one again; list items keep lines of their own. */
function join(text: string, next: string): string {
  if (text === '') return next;
  if (ITEM.test(next)) return `${text}\n${next}`;
  if (/\p{L}-$/u.test(text) && /^\p{Ll}/u.test(next)) return text.slice(0, -1) + next;
  const isUnspaced = IDEOGRAPHIC.test(text.at(-1) ?? '') && IDEOGRAPHIC.test(next[0] ?? '');
  return isUnspaced ? text + next : `${text} ${next}`;
}
