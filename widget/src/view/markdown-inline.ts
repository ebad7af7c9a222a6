/** A part of the text of a block. */
export type Inline =
  | { readonly type: 'text' | 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'deleted'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly children: readonly Inline[] }
  | { readonly type: 'image'; readonly src: string; readonly alt: string }
  | { readonly type: 'break' };

/** Most open markers at a time; further ones are text. This limits the depth of the nodes. */
const MAX_OPEN = 24;
const MAX_URL = 4_096;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const SPACE = /\s/;
const WORD = /[\p{L}\p{N}]/u;
const BARE_URL = /https?:\/\/[^\s<>"`|]+/y;
const ANGLE_URL = /<((?:https?:\/\/|mailto:)[^\s<>]+)>/y;

const MARKS = { '**': 'strong', __: 'strong', '*': 'emphasis', _: 'emphasis', '~~': 'deleted' } as const;
type Mark = keyof typeof MARKS;

interface Opener {
  readonly mark: Mark | '[' | '![';
  /** Index of the marker's own characters among the nodes. */
  readonly node: number;
  /** Index at which the text inside begins. */
  readonly from: number;
}

/**
 * Parses the text of a block. Unclosed markers and HTML are text. The work is linear for any text: it reads each character a bounded
 * number of times.
 */
export function parseInline(text: string): Inline[] {
  return new InlineParser(text).parse();
}

class InlineParser {
  private readonly text: string;
  private readonly nodes: Inline[] = [];
  private readonly open: Opener[] = [];
  private readonly ticks: ReadonlyMap<number, Positions>;
  private at = 0;
  private textFrom = 0;

  constructor(text: string) {
    this.text = text;
    this.ticks = ticksOf(text);
  }

  parse(): Inline[] {
    while (this.at < this.text.length) {
      if (!this.special()) this.at += 1;
    }
    this.flush();
    return this.nodes;
  }

  /** @returns whether it has consumed characters */
  private special(): boolean {
    switch (this.text.charAt(this.at)) {
      case '\\':
        return this.escape();
      case '`':
        return this.code();
      case '*':
      case '_':
      case '~':
        return this.mark();
      case '!':
        return this.text[this.at + 1] === '[' && this.push('![', 2);
      case '[':
        return this.push('[', 1);
      case ']':
        return this.closeLink();
      case '<':
        return this.url(ANGLE_URL, 1);
      case 'h':
        return !WORD.test(this.text[this.at - 1] ?? ' ') && this.url(BARE_URL, 0);
      case '\n':
        return this.lineBreak();
      default:
        return false;
    }
  }

  private flush(): void {
    if (this.textFrom < this.at) this.nodes.push({ type: 'text', text: this.text.slice(this.textFrom, this.at) });
    this.textFrom = this.at;
  }

  /** Consumes the next characters as a node. */
  private take(length: number, node: Inline | null): true {
    this.flush();
    if (node) this.nodes.push(node);
    this.at += length;
    this.textFrom = this.at;
    return true;
  }

  private escape(): boolean {
    const next = this.text[this.at + 1];
    if (next === '\n') return this.take(2, { type: 'break' });
    return next !== undefined && PUNCTUATION.test(next) && this.take(2, { type: 'text', text: next });
  }

  private lineBreak(): boolean {
    return this.take(1, { type: 'break' });
  }

  private code(): boolean {
    const length = runLength(this.text, this.at);
    const end = this.ticks.get(length)?.after(this.at);
    if (end === undefined) {
      this.at += length;
      return true;
    }
    const inner = this.text.slice(this.at + length, end).replaceAll('\n', ' ');
    const isPadded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '';
    return this.take(end + length - this.at, { type: 'code', text: isPadded ? inner.slice(1, -1) : inner });
  }

  private url(pattern: RegExp, brackets: 0 | 1): boolean {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (!match) return false;
    const whole = brackets === 1 ? (match[1] ?? '') : withoutTail(match[0]);
    if (whole.length > MAX_URL || this.open.some(({ mark }) => mark === '[')) {
      this.at += whole.length;
      return true;
    }
    return this.take(whole.length + 2 * brackets, {
      type: 'link',
      href: whole,
      children: [{ type: 'text', text: whole }],
    });
  }

  private mark(): boolean {
    const character = this.text[this.at] ?? '';
    const length = runLength(this.text, this.at);
    // Of three markers the outer are two, so the inner one is closed first.
    const isOne = length === 1 || (length === 3 && this.open.at(-1)?.mark === character);
    const mark = (isOne ? character : character.repeat(2)) as Mark;
    // A longer run is text: reading it again for each of its characters would take quadratic time.
    if (length > 3 || (character === '~' && length !== 2)) {
      this.at += length;
      return true;
    }
    const [before = ' ', after = ' '] = [this.text[this.at - 1], this.text[this.at + length]];
    const inWord = character === '_' && WORD.test(before) && WORD.test(after);
    const canClose = !SPACE.test(before) && !inWord && !(character === '_' && WORD.test(after));
    const canOpen = !SPACE.test(after) && !inWord && !(character === '_' && WORD.test(before));
    if (canClose && this.closeMark(mark)) return true;
    if (canOpen) return this.push(mark, mark.length);
    this.at += mark.length;
    return true;
  }

  private push(mark: Opener['mark'], length: number): boolean {
    if (this.open.length >= MAX_OPEN) {
      this.at += length;
      return true;
    }
    this.flush();
    this.open.push({ mark, node: this.nodes.length, from: this.at + length });
    return this.take(length, { type: 'text', text: mark });
  }

  /** Markers that were opened since and not closed remain text. */
  private closeMark(mark: Mark): boolean {
    const index = this.open.findLastIndex((opener) => opener.mark === mark);
    const opener = this.open[index];
    if (!opener || opener.from === this.at) return false;
    this.flush();
    this.open.length = index;
    const children = this.nodes.splice(opener.node).slice(1);
    return this.take(mark.length, { type: MARKS[mark], children });
  }

  private closeLink(): boolean {
    const index = this.open.findLastIndex(({ mark }) => mark === '[' || mark === '![');
    const opener = this.open[index];
    if (!opener) return false;
    const target = this.text[this.at + 1] === '(' ? destinationAt(this.text, this.at + 2) : null;
    if (!target) {
      this.open.length = index;
      return false;
    }
    this.flush();
    this.open.length = index;
    const children = this.nodes.splice(opener.node).slice(1);
    const { href, end } = target;
    const node: Inline =
      opener.mark === '!['
        ? { type: 'image', src: href, alt: this.text.slice(opener.from, this.at) }
        : { type: 'link', href, children: children.flatMap(withoutLinks) };
    return this.take(end - this.at, node);
  }
}

/** A link inside a link becomes its text. */
function withoutLinks(node: Inline): readonly Inline[] {
  return node.type === 'link' ? node.children : [node];
}

/** Positions in a text, for a reader that only moves forward. */
class Positions {
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
function ticksOf(text: string): ReadonlyMap<number, Positions> {
  const ticks = new Map<number, Positions>();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const positions = ticks.get(run.length) ?? new Positions();
    positions.add(index);
    ticks.set(run.length, positions);
  }
  return ticks;
}

function runLength(text: string, from: number): number {
  let end = from + 1;
  while (text[end] === text[from]) end += 1;
  return end - from;
}

/** Punctuation at the end belongs to the sentence, and so does an unopened closing bracket. */
function withoutTail(url: string): string {
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

/** An address may contain one pair of brackets; so a text of opening brackets is given up after two of them. */
function destinationAt(text: string, from: number): { readonly href: string; readonly end: number } | null {
  let depth = 0;
  const limit = Math.min(text.length, from + MAX_URL);
  for (let at = from; at < limit; at += 1) {
    const character = text[at] ?? '';
    if (character === '(') {
      depth += 1;
      if (depth > 1) return null;
    } else if (character === ')') {
      if (depth === 0) return { href: text.slice(from, at), end: at + 1 };
      depth -= 1;
    } else if (SPACE.test(character)) {
      const title = /\s+(?:"[^"\n]{0,300}"|'[^'\n]{0,300}')\s*\)/y;
      title.lastIndex = at;
      const match = title.exec(text);
      return match ? { href: text.slice(from, at), end: at + match[0].length } : null;
    }
  }
  return null;
}
