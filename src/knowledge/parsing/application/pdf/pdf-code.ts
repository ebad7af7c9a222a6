import { type Line, type PageLines, spaces } from './pdf-lines.js';

/** A single line may be a long name within a paragraph. */
const MIN_LINES = 2;
/** From one base line to the next, in sizes of letters: more are empty lines, and more than a few end the code. */
const EMPTY_LINE = 2;
const MAX_GAP = 5;
/** Of the longest lines: where most of so many are nearly as long, they are paragraphs. */
const FULL = 0.85;
const MIN_TYPEWRITTEN_LINES = 10;

/** Lines of a program or of what one wrote. */
export interface Code {
  readonly kind: 'code';
  readonly text: string;
  /** How many lines it takes. */
  readonly length: number;
}

/** The code that begins with the first of these lines, if it does: lines in a fixed-width font below one another. */
export function codeAt(lines: readonly Line[]): Code | undefined {
  let length = 0;
  for (
    let next = lines[0];
    next && isFixed(next) && (length === 0 || follows(lines[length - 1], next));
    next = lines[length]
  )
    length += 1;
  return length < MIN_LINES ? undefined : { kind: 'code', text: textOf(lines.slice(0, length)), length };
}

/** Whether paragraphs are set in a fixed-width font, as by a typewriter: most lines of the document are, and reach its right side. */
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

/** The lines with their indents, with what is between their parts, and with empty lines. */
function textOf(lines: readonly Line[]): string {
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
