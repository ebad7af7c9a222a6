import type { PDFDocumentProxy } from 'unpdf/pdfjs';

export type PageText = Awaited<ReturnType<Awaited<ReturnType<PDFDocumentProxy['getPage']>>['getTextContent']>>;
/** The first two numbers of `transform` are the direction, the fifth and the sixth the left and bottom position. */
export type TextPiece = Omit<Extract<PageText['items'][number], { str: string }>, 'transform'> & {
  readonly transform: readonly number[];
};

/** Text without a gap in it. */
export interface Segment {
  text: string;
  left: number;
  right: number;
  /** The position of the base line, from the bottom of the page. */
  y: number;
  size: number;
  /** The width of each character in a fixed-width font; undefined in others. */
  advance: number | undefined;
}

/** Segments side by side in one column of a page. */
export interface Line extends Readonly<Omit<Segment, 'advance'>> {
  readonly segments: readonly Segment[];
}

export interface PageLines {
  readonly page: number;
  readonly lines: readonly Line[];
}

/** In letter sizes: a gap wider than the first separates columns or cells, and one narrower than the second is within a word. */
const WIDE_GAP = 1.2;
const WORD_GAP = 0.2;
/** A label of a list item belongs to the text after it, however wide the gap. */
const LABEL = /^(?:[•‣◦▪●■□–—*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{2,4})[.)])$/;

/** The lines of a page in reading order, one column after the other. */
export function linesOf(pieces: readonly TextPiece[], fixedWidths: ReadonlyMap<string, number>): readonly Line[] {
  // Text that is drawn upwards or downwards is separate.
  const directions = Map.groupBy(pieces, ({ transform: [a = 1, b = 0] }) =>
    Math.round((Math.atan2(b, a) / Math.PI) * 2),
  );
  return [...directions]
    .sort(([, a], [, b]) => b.length - a.length)
    .flatMap(([quarters, turned]) => inOrder(segmentsOf(turned, quarters, fixedWidths), MAX_COLUMN_DEPTH));
}

function segmentsOf(
  pieces: readonly TextPiece[],
  quarters: number,
  fixedWidths: ReadonlyMap<string, number>,
): readonly Segment[] {
  const segments: Segment[] = [];
  for (const piece of pieces) {
    if (piece.str.trim() === '') continue;
    const [, , c = 0, d = 0, e = 0, f = 0] = piece.transform;
    const [cos, sin] = [Math.round(Math.cos((quarters * Math.PI) / 2)), Math.round(Math.sin((quarters * Math.PI) / 2))];
    const left = e * cos + f * sin;
    const size = piece.height || Math.hypot(c, d);
    const width = fixedWidths.get(piece.fontName);
    const next = {
      text: piece.str,
      left,
      right: left + piece.width,
      y: f * cos - e * sin,
      size,
      advance: width === undefined ? undefined : width * size,
    };
    const last = segments.at(-1);
    if (last && isBeside(last, next)) append(last, next);
    else segments.push(next);
  }
  return segments;
}

function isBeside(last: Segment, next: Segment): boolean {
  const size = Math.max(last.size, next.size);
  const gap = next.left - last.right;
  return (
    Math.abs(next.y - last.y) <= size * 0.5 &&
    gap > -size &&
    (gap < size * WIDE_GAP || (LABEL.test(last.text.trim()) && gap < size * 4))
  );
}

/** Not characters that only modify a letter, such as a circumflex. */
const LETTER = /[\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{N}]/u;

function append(last: Segment, next: Segment): void {
  // PDFs that place each word separately have no spaces between words.
  const gap = next.left - last.right;
  const isApart = gap > Math.max(last.size, next.size) * WORD_GAP && !/\s$/.test(last.text) && !/^\s/.test(next.text);
  last.advance = next.advance === undefined ? undefined : last.advance;
  const isSign = !LETTER.test(last.text);
  last.text += (last.advance !== undefined ? spaces(gap / last.advance) : isApart ? ' ' : '') + next.text;
  last.right = Math.max(last.right, next.right);
  // A raised footnote mark must not move its line, and a larger sign of another font must not make the line a heading.
  if (LETTER.test(next.text) && (next.size > last.size || isSign)) [last.size, last.y] = [next.size, next.y];
}

export const spaces = (columns: number): string => ' '.repeat(Math.max(0, Math.round(columns)));

/** The depth of columns within columns, and the most segments of a page that are searched for columns: more would take too long. */
const MAX_COLUMN_DEPTH = 3;
const MAX_COLUMN_SEGMENTS = 5_000;

function inOrder(segments: readonly Segment[], depth: number): readonly Line[] {
  const gutter = depth > 0 && segments.length <= MAX_COLUMN_SEGMENTS ? gutterOf(segments) : undefined;
  if (gutter === undefined) return rowsOf(segments);
  const lines: Line[] = [];
  let band: Segment[] = [];
  const finish = (): void => {
    const columns = [band.filter(({ right }) => right <= gutter), band.filter(({ left }) => left >= gutter)];
    lines.push(...columns.flatMap((column) => inOrder(column, depth - 1)));
    band = [];
  };
  // A segment across both columns separates the columns above it from those below it.
  for (const segment of [...segments].sort((a, b) => b.y - a.y)) {
    if (segment.right <= gutter || segment.left >= gutter) band.push(segment);
    else {
      finish();
      lines.push(...rowsOf([segment]));
    }
  }
  finish();
  return lines;
}

/** A column of text has at least this many lines, and they fill it. Anything else is a table. */
const MIN_COLUMN_LINES = 8;
const MIN_LINE_CHARACTERS = 20;
const MAX_CROSSING = 0.25;

/** The horizontal position between two columns of text that is nearest to the middle, if there is one. */
function gutterOf(segments: readonly Segment[]): number | undefined {
  if (segments.length < MIN_COLUMN_LINES * 2) return undefined;
  const [left, right] = [Math.min(...segments.map((one) => one.left)), Math.max(...segments.map((one) => one.right))];
  const middle = (left + right) / 2;
  const positions = [...new Set(segments.map((one) => Math.floor(one.left) - 1))].filter(
    (x) => x > left + (right - left) * 0.2 && x < left + (right - left) * 0.8,
  );
  return positions
    .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))
    .slice(0, 40)
    .find((x) => {
      const [before, after] = [segments.filter((one) => one.right <= x), segments.filter((one) => one.left >= x)];
      return (
        segments.length - before.length - after.length <= segments.length * MAX_CROSSING &&
        isColumn(before) &&
        isColumn(after)
      );
    });
}

function isColumn(segments: readonly Segment[]): boolean {
  const full = segments.filter(({ text }) => text.length >= MIN_LINE_CHARACTERS);
  const widest = Math.max(...full.map(({ left, right }) => right - left));
  return (
    full.length >= MIN_COLUMN_LINES &&
    full.filter(({ left, right }) => right - left > widest * 0.8).length >= segments.length * 0.5
  );
}

function rowsOf(segments: readonly Segment[]): readonly Line[] {
  const rows: Segment[][] = [];
  for (const segment of [...segments].sort((a, b) => b.y - a.y)) {
    const row = rows.at(-1);
    const [first] = row ?? [];
    if (row && first && first.y - segment.y < Math.max(first.size, segment.size) * 0.4) row.push(segment);
    else rows.push([segment]);
  }
  return rows.map(lineOf);
}

function lineOf(row: readonly Segment[]): Line {
  const sorted = [...row].sort((a, b) => a.left - b.left).map(trimmed);
  // The size and the base line of the longest segment.
  const main = sorted.reduce((most, one) => (one.text.length > most.text.length ? one : most));
  const text = sorted.map((segment) => segment.text).join(' ');
  return { segments: sorted, text, left: sorted[0]?.left ?? 0, right: rightOf(sorted), y: main.y, size: main.size };
}

function trimmed(segment: Segment): Segment {
  const indent = segment.text.length - segment.text.trimStart().length;
  return { ...segment, text: segment.text.trim(), left: segment.left + indent * (segment.advance ?? 0) };
}

export function rightOf(parts: readonly { readonly right: number }[]): number {
  return parts.reduce((most, { right }) => Math.max(most, right), 0);
}

const IDEOGRAPHIC = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}、。，．]/u;
export const ITEM = /^(?:[•‣◦▪●–—*-]|\d{1,3}[.)]|[a-z]\))\s/;

/** Joins two lines of a paragraph, and the parts of a word that was hyphenated at the line's end. A list item stays a separate line. */
export function joined(text: string, next: string): string {
  if (ITEM.test(next)) return `${text}\n${next}`;
  if (/\p{L}[-‐]$/u.test(text) && /^\p{Ll}/u.test(next)) return text.slice(0, -1) + next;
  const isUnspaced = IDEOGRAPHIC.test(text.at(-1) ?? '') && IDEOGRAPHIC.test(next[0] ?? '');
  return isUnspaced ? text + next : `${text} ${next}`;
}
