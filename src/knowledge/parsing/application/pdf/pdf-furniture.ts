import type { Line, PageLines } from './pdf-lines.js';

/** The lines at the top and at the bottom of a page that may be running headers and footers. */
const OUTER_LINES = 3;
/** The number of pages on which such a line is the same or counts up. In the size of a heading, half of the pages. */
const MIN_REPEATS = 3;
/** The smallest distance to the text, in letter sizes. */
const APART = 1.7;

export function withoutFurniture(
  pages: readonly PageLines[],
  isHeading: (line: Line) => boolean,
): readonly PageLines[] {
  const counts = new Map<string, number>();
  for (const { page, lines } of pages) {
    const keys = new Set([...outer(lines), ...outer(lines.toReversed())].flatMap((line) => keysOf(line, page)));
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return pages.map(({ page, lines }) => {
    const repeats = (line: Line): boolean => {
      const least = isHeading(line) ? pages.length / 2 : 0;
      return keysOf(line, page).some(
        (key) => (counts.get(key) ?? 0) >= Math.max(least, Math.min(MIN_REPEATS, Math.max(2, pages.length))),
      );
    };
    const start = repeated(lines, repeats);
    const end = repeated(lines.slice(start).toReversed(), repeats);
    return { page, lines: lines.slice(start, lines.length - end) };
  });
}

const outer = (lines: readonly Line[]): readonly Line[] => lines.slice(0, OUTER_LINES);

/** The number of lines at the start that are repeated on other pages and have a distance to the text. */
function repeated(lines: readonly Line[], repeats: (line: Line) => boolean): number {
  const found = outer(lines).findIndex((line) => !repeats(line));
  for (let count = found < 0 ? Math.min(OUTER_LINES, lines.length) : found; count > 0; count -= 1) {
    const [last, next] = [lines[count - 1], lines[count]];
    if (!last || !next || Math.abs(last.y - next.y) > Math.max(last.size, next.size) * APART) return count;
  }
  return 0;
}

/** Equal for repeated lines: the position with the text without its numbers, and with the difference of a number to the page's number. */
function keysOf({ text, y }: Line, page: number): readonly string[] {
  const place = Math.round(y / 4);
  const plain = text.replace(/\d+/g, '#').replace(/(?<![\p{L}\d])[ivxlc]+(?![\p{L}\d])/giu, '#');
  const numbers = text.match(/^\d{1,4}(?!\S)|(?<!\S)\d{1,4}$/g) ?? [];
  return [place - 1, place, place + 1].flatMap((at) => [
    `${at} ${plain}`,
    ...numbers.map((number) => `${at} ${Number(number) - page}`),
  ]);
}

const LEADERS = /(?:\s?[.․…·_]){4,}\s*(?:\d{1,4}|[ivxlc]+)$/;
const ENTRY = /^(.*\S)\s+(?:\d{1,4}|[ivxlc]+)$/;
/** Entries that make a page part of a table of contents. On the page after such a page, one entry is enough. */
const MIN_ENTRIES = 3;
/** Lines between two entries that are the first lines of a long entry. */
const MAX_BETWEEN = 2;

/** Without tables of contents: lines that end in dots and a page number, or in a number after a text that is also a line elsewhere. */
export function withoutContents(pages: readonly PageLines[]): readonly PageLines[] {
  const texts = new Set(pages.flatMap(({ lines }) => lines.map(({ text }) => lettersOf(text))));
  const isEntry = ({ text }: Line): boolean => {
    const label = lettersOf(ENTRY.exec(text)?.[1] ?? '');
    return LEADERS.test(text) || (/\p{L}{2}/u.test(label) && texts.has(label));
  };
  let least = MIN_ENTRIES;
  return pages.map(({ page, lines }) => {
    const sure = lines.filter(isEntry).length;
    const isContents = sure >= least;
    least = isContents ? 1 : MIN_ENTRIES;
    if (!isContents) return { page, lines };
    // If most lines are entries, other lines that end in a number are too, such as chapters with a different title.
    const entries = new Set(
      lines.flatMap((line, index) =>
        isEntry(line) || (sure > lines.length / 2 && ENTRY.test(line.text)) ? [index] : [],
      ),
    );
    return { page, lines: lines.filter((_, index) => !entries.has(index) && !isBetween(entries, index)) };
  });
}

function isBetween(entries: ReadonlySet<number>, index: number): boolean {
  const near = Array.from({ length: MAX_BETWEEN }, (_, at) => at + 1);
  const [before, after] = [near.find((at) => entries.has(index - at)), near.find((at) => entries.has(index + at))];
  return before !== undefined && after !== undefined && before + after <= MAX_BETWEEN + 1;
}

const lettersOf = (text: string): string => text.replace(/[\s.․…·_]+/g, '').toLowerCase();
