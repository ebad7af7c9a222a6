import { type Line, type PageLines, spaces } from './pdf-lines.js';

/** A single line may be a long name within a paragraph. */
const MIN_LINES = 2;
/** Distances between base lines, in letter sizes: from the first there is an empty line between them, and the second is the largest within code. */
const EMPTY_LINE = 2;
const MAX_GAP = 5;
/** If most lines have at least this share of the longest lines' length, they are paragraphs. */
const FULL = 0.85;
const MIN_TYPEWRITTEN_LINES = 10;

export interface Code {
  readonly kind: 'code';
  readonly text: string;
  readonly length: number;
}

/** The code that begins with the first of these lines, if any: consecutive lines in a fixed-width font. */
export function codeAt(lines: readonly Line[]): Code | undefined {
  let length = 0;
  for (
    let next = lines[0];
    next && isFixed(next) && (length === 0 || follows(lines[length - 1], next));
    next = lines[length]
  )
    length += 1;
  return length < MIN_LINES ? undefined : { kind: 'code', text: codeText(lines.slice(0, length)), length };
}

/** Whether the paragraphs of the document are in a fixed-width font: most lines are, and most of those are about equally long. */
export function isTypewritten(pages: readonly PageLines[]): boolean {
  const lines = pages.flatMap((page) => page.lines);
  const fixed = lines.filter(isFixed);
  const lengths = fixed.map(({ text }) => text.length).sort((a, b) => a - b);
  const longest = lengths[Math.floor(lengths.length * 0.95)] ?? 0;
  if (fixed.length < Math.max(MIN_TYPEWRITTEN_LINES, lines.length / 2)) return false;
  return lengths.filter((length) => length >= longest * FULL).length > lengths.length / 2;
}

const isFixed = ({ segments }: Line): boolean => segments.every(({ advance }) => advance !== undefined);

function follows(before: Line | undefined, line: Line): boolean {
  const gap = (before?.y ?? 0) - line.y;
  return gap > 0 && gap <= line.size * MAX_GAP && Math.abs((before?.size ?? 0) - line.size) < 1;
}

function codeText(lines: readonly Line[]): string {
  const left = Math.min(...lines.map((line) => line.left));
  const texts = lines.map(({ segments, y, size }, at) => {
    const isApart = (lines[at - 1]?.y ?? y) - y > size * EMPTY_LINE;
    const text = segments.reduce(
      (before, segment) =>
        before + spaces((segment.left - left) / (segment.advance ?? size) - before.length) + segment.text,
      '',
    );
    return isApart ? `\n${text}` : text;
  });
  return texts.join('\n');
}
