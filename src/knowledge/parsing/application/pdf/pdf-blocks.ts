import type { BlockList } from '../formats/block-list.js';
import { type Code, codeAt, isTypewritten } from './pdf-code.js';
import { withoutContents, withoutFurniture } from './pdf-furniture.js';
import { ITEM, joined, type Line, type PageLines, rightOf } from './pdf-lines.js';
import { continuation, type Table, tableAt } from './pdf-tables.js';

/** The letters of a heading are larger than those of the text by at least this factor. */
const HEADING_FACTOR = 1.15;
const MAX_HEADING_CHARACTERS = 200;
/** The largest distance between two base lines of a paragraph, in letter sizes. */
const PARAGRAPH_FACTOR = 1.6;
/** The number of heading levels. Each of the largest sizes is one. */
const LEVELS = 3;
/** Lines that are searched for a table or code at a time. Searching all lines of a page for each line would take too long. */
const MAX_AHEAD = 200;
const SENTENCE_END = /[.!?:;。！？：；…]["'”’»)\]」』）]*$/u;

interface Paragraph {
  readonly kind: 'heading' | 'text';
  text: string;
  last: Line;
}

type Part = { readonly page: number } & (Paragraph | Code | Table);

export function addPages(pages: readonly PageLines[], blocks: BlockList): void {
  const usual = textSize(pages.flatMap(({ lines }) => lines));
  const heading = (line: Line): boolean => isHeading(line, usual);
  const read = withoutContents(withoutFurniture(pages, heading));
  const levels = levelsOf(read.flatMap(({ lines }) => lines.filter(heading)));
  for (const part of partsOf(read, heading)) {
    blocks.page = part.page;
    if (part.kind === 'table') addTable(part.rows, blocks);
    else if (part.kind === 'code') blocks.code(part.text);
    else if (part.kind === 'heading' && part.text.length <= MAX_HEADING_CHARACTERS)
      blocks.heading(levels.get(half(part.last.size)) ?? LEVELS, part.text);
    else blocks.text(part.text);
  }
  blocks.page = undefined;
}

/** A list of terms beside sentences looks like a table, but its first row does not name columns. */
function addTable(rows: readonly (readonly string[])[], blocks: BlockList): void {
  const [first = []] = rows;
  if (first.length !== 2 || !SENTENCE_END.test(first[1] ?? '')) return blocks.table(rows);
  for (const [term = '', text = ''] of rows) {
    blocks.term = term === '' || text === '' ? undefined : term;
    blocks.text(text === '' ? term : text);
  }
  blocks.term = undefined;
}

function textSize(lines: readonly Line[]): number {
  const characters = new Map<number, number>();
  for (const { size, text } of lines) characters.set(half(size), (characters.get(half(size)) ?? 0) + text.length);
  const [usual = [0, 0]] = [...characters].sort(([, a], [, b]) => b - a);
  return usual[0];
}

const half = (size: number): number => Math.round(size * 2) / 2;

function levelsOf(headings: readonly Line[]): ReadonlyMap<number, number> {
  const sizes = new Set(headings.map(({ size }) => half(size)));
  return new Map([...sizes].sort((a, b) => b - a).map((size, index) => [size, Math.min(LEVELS, index + 1)]));
}

function isHeading({ size, text }: Line, usual: number): boolean {
  return usual > 0 && size > usual * HEADING_FACTOR && text.length <= MAX_HEADING_CHARACTERS && /\p{L}/u.test(text);
}

function partsOf(pages: readonly PageLines[], heading: (line: Line) => boolean): readonly Part[] {
  const parts: Part[] = [];
  const hasCode = !isTypewritten(pages);
  for (const { page, lines } of pages) {
    const right = rightOf(lines);
    for (let at = 0; at < lines.length;) {
      const ahead = lines.slice(at, at + MAX_AHEAD);
      const [line] = ahead;
      if (!line) break;
      const before = parts.at(-1);
      const found = heading(line) ? undefined : ((hasCode ? codeAt(ahead) : undefined) ?? tableAt(ahead));
      at += found?.length ?? 1;
      const rest = before?.kind === 'table' && found?.kind === 'table' ? continuation(before, found) : undefined;
      if (before?.kind === 'table' && rest) before.rows.push(...rest);
      else if (found) parts.push({ ...found, page });
      else if ((before?.kind === 'heading' || before?.kind === 'text') && belongs(before, line, heading, right)) {
        before.text = joined(before.text, line.text);
        before.last = line;
      } else parts.push({ kind: heading(line) ? 'heading' : 'text', page, text: line.text, last: line });
    }
  }
  return parts;
}

/** Whether a line continues the paragraph before it. */
function belongs(
  { kind, text, last }: Paragraph,
  line: Line,
  heading: (line: Line) => boolean,
  right: number,
): boolean {
  if ((kind === 'heading') !== heading(line) || (kind === 'heading' && half(last.size) !== half(line.size)))
    return false;
  const gap = last.y - line.y;
  const size = Math.max(last.size, line.size);
  if (gap > 0) {
    const isShifted =
      Math.abs(line.left - last.left) > line.size * 0.8 && SENTENCE_END.test(text) && !ITEM.test(last.text);
    return gap < size * PARAGRAPH_FACTOR && (!isShifted || ITEM.test(line.text));
  }
  // The line is further up: in the next column or on the next page. An unfinished sentence continues there.
  if (kind === 'heading' || SENTENCE_END.test(text) || ITEM.test(line.text) || half(last.size) !== half(line.size))
    return false;
  return (
    /^\p{Ll}/u.test(line.text) ||
    /[-,]$/.test(text) ||
    last.right - last.left > (right - line.left) * 0.9 ||
    last.right > right * 0.95
  );
}
