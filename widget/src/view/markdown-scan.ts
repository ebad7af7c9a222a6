const SPACE = /\s/;
const WORD = /[\p{L}\p{N}]/u;

/** Positions in a text, for a reader that only moves forward. */
export class Positions {
  private readonly all: number[] = [];
  private next = 0;

  add(position: number): void {
    this.all.push(position);
  }

  after(position: number): number | undefined {
    while ((this.all[this.next] ?? Infinity) <= position) this.next += 1;
    return this.all[this.next];
  }
}

/** The positions of runs of backticks, by their length. */
export function ticksOf(text: string): ReadonlyMap<number, Positions> {
  const ticks = new Map<number, Positions>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const positions = ticks.get(run.length) ?? new Positions();
    positions.add(index);
    ticks.set(run.length, positions);
  }
  return ticks;
}

export type FormulaSign = '$' | '$$' | '\\)' | '\\]';

/** The positions at which formulas can end, by the sign there. */
export function formulaEnds(text: string): ReadonlyMap<FormulaSign, Positions> {
  const ends = new Map<FormulaSign, Positions>([
    ['$', new Positions()],
    ['$$', new Positions()],
    ['\\)', new Positions()],
    ['\\]', new Positions()],
  ]);
  const signs: ReadonlyMap<string, Positions> = ends;
  for (const { 0: sign, index } of text.matchAll(/\\[^]|\$+/g)) signs.get(sign)?.add(index);
  return ends;
}

/** Whether the dollar sign at this index does not belong to an amount. */
export function isFormulaEnd(text: string, at: number): boolean {
  return !SPACE.test(text[at - 1] ?? ' ') && !WORD.test(text[at + 1] ?? ' ');
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };
const ENTITY = /&(?:(amp|lt|gt|quot|apos|nbsp)|#(\d{1,7})|#x([\da-f]{1,6}));/iy;

/** The character that stands written as `&lt;` or by its number. */
export function entityAt(text: string, at: number): { readonly text: string; readonly length: number } | null {
  ENTITY.lastIndex = at;
  const [whole, name, decimal, hexadecimal] = ENTITY.exec(text) ?? [];
  if (whole === undefined) return null;
  const code = decimal === undefined ? parseInt(hexadecimal ?? '', 16) : Number(decimal);
  const character = name === undefined ? characterOf(code) : ENTITIES[name.toLowerCase()];
  return character === undefined ? null : { text: character, length: whole.length };
}

/** The replacement character for numbers of none. */
function characterOf(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
}

export function runLength(text: string, from: number): number {
  let end = from + 1;
  while (text[end] === text[from]) end += 1;
  return end - from;
}

/** Punctuation at the end belongs to the sentence, and so does an unopened closing bracket. */
export function withoutTail(url: string): string {
  let end = url.length;
  let opened = 0;
  for (const character of url) opened += character === '(' ? 1 : character === ')' ? -1 : 0;
  for (; end > 0; end -= 1) {
    const last = url[end - 1] ?? '';
    if (last === ')' && opened < 0) opened += 1;
    else if (!".,;:!?*_~'])".includes(last) || last === ')') break;
  }
  return url.slice(0, end);
}

export interface Destination {
  readonly href: string;
  /** The index after the closing bracket. */
  readonly end: number;
}

/** An address without angle brackets may contain pairs of round ones, but none within another. */
const DESTINATION =
  /[ \n]?(?:<([^<>\n]{0,4096})>|((?:[^\s()<\\]|\\[^\s]|\((?:[^\s()\\]|\\[^\s]){0,4096}\)){0,4096}))(?:\s+(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'))?\s*\)/y;

/** The address in the round brackets of a link, of which `from` is the index after the opening one. A title may follow it. */
export function destinationAt(text: string, from: number): Destination | null {
  DESTINATION.lastIndex = from;
  const match = DESTINATION.exec(text);
  if (!match) return null;
  const href = (match[1] ?? match[2] ?? '').replace(/\\([!-/:-@[-`{-~])/g, '$1');
  return { href, end: from + match[0].length };
}
