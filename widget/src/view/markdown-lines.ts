/*
 * The lines of a Markdown text. No expression here has two adjacent parts that match the same character: on a line of 100,000 of them it
 * would take quadratic time.
 */

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?=[ \t]|$)/;
const TAB_STOP = 4;

export const HEADING = /^ {0,3}(#{1,6})(?:\s+|$)/;
export const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
export const QUOTE = /^ {0,3}> ?/;
/** The line under the text of a heading. */
export const UNDERLINE = /^ {0,3}(?:={2,}|-{3,})[ \t]*$/;
/** Begins the text of a footnote. */
export const NOTE = /^\[\^([^\s[\]^]{1,100})\]:[ \t]*/;

export function isBlank(line: string): boolean {
  return /^\s*$/.test(line);
}

/** @returns the columns of white space before the text, which begins at the given column */
export function indentOf(line: string, column = 0): number {
  let at = column;
  for (const character of line) {
    if (character === ' ') at += 1;
    else if (character === '\t') at += TAB_STOP - (at % TAB_STOP);
    else break;
  }
  return at - column;
}

/** Removes at most so many columns of white space. What a tab spans beyond them remains as spaces. */
export function dedent(line: string, columns: number, column = 0): string {
  let [at, removed] = [0, 0];
  for (; removed < columns; at += 1) {
    if (line[at] === ' ') removed += 1;
    else if (line[at] === '\t') removed += TAB_STOP - ((column + removed) % TAB_STOP);
    else break;
  }
  return ' '.repeat(Math.max(0, removed - columns)) + line.slice(at);
}

/** The beginning of an item of a list. */
export interface Marker {
  /** The sign that the items of one list share. */
  readonly sign: string;
  /** Null for an item without a number. */
  readonly number: number | null;
  readonly indent: number;
  /** The column at which the item's text begins. */
  readonly width: number;
  /** The line after the marker. */
  readonly rest: string;
}

export function markerOf(line: string): Marker | null {
  const [marker = '', { length: indent } = '', sign = ''] = ITEM.exec(line) ?? [];
  if (marker === '') return null;
  const after = line.slice(marker.length);
  const gap = indentOf(after, marker.length);
  // After more white space the text is code, which begins after one column.
  const width = isBlank(after) || gap > TAB_STOP ? 1 : gap;
  return {
    sign: sign.slice(-1),
    number: sign.length > 1 ? Number(sign.slice(0, -1)) : null,
    indent,
    width: marker.length + width,
    rest: dedent(after, width, marker.length),
  };
}

export interface Fence {
  readonly sign: string;
  readonly language: string;
}

export function fenceOf(line: string): Fence | null {
  const match = FENCE.exec(line);
  if (!match) return null;
  const [language = ''] = (match[2] ?? '').trim().split(/\s/, 1);
  return { sign: match[1] ?? '', language };
}

export function isFenceEnd(line: string, { sign }: Fence): boolean {
  const text = line.trim();
  return text.length >= sign.length && text === sign.charAt(0).repeat(text.length);
}

/** Knows whether the line after the ones that it has read is within code. */
export class FenceTracker {
  private open: Fence | null = null;

  get isOpen(): boolean {
    return this.open !== null;
  }

  read(line: string): void {
    if (!this.open) this.open = fenceOf(line);
    else if (isFenceEnd(line, this.open)) this.open = null;
  }
}

/** The closing sign of a formula that this line begins, and that stands alone on its lines. */
export function formulaEnd(line: string): '$$' | '\\]' | null {
  const text = line.trim();
  const end = text.startsWith('$$') ? '$$' : text.startsWith('\\[') ? '\\]' : null;
  if (end === null || indentOf(line) >= TAB_STOP) return null;
  const at = text.indexOf(end, 2);
  return at === -1 || (at > 2 && at === text.length - 2) ? end : null;
}
