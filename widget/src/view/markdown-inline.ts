import {
  destinationAt,
  entityAt,
  formulaEnds,
  type FormulaSign,
  isFormulaEnd,
  type Positions,
  runLength,
  ticksOf,
  withoutTail,
} from './markdown-scan.js';
import { withoutBidiControls } from './visible-text.js';

/** A part of the text of a block. */
export type Inline =
  | { readonly type: 'text' | 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis' | 'deleted'; readonly children: readonly Inline[] }
  | { readonly type: 'link'; readonly href: string; readonly children: readonly Inline[] }
  | { readonly type: 'image'; readonly src: string; readonly alt: string }
  /** LaTeX; `source` is without the signs around it, `written` is with them. */
  | { readonly type: 'formula'; readonly source: string; readonly written: string }
  /** A reference to the footnote with this label. */
  | { readonly type: 'note'; readonly label: string }
  | { readonly type: 'break' };

/** Most open markers at a time; further ones are text. This limits the depth of the nodes. */
const MAX_OPEN = 24;
const MAX_URL = 4_096;
/** The rest of a longer text remains without marks, because a text is drawn at once. */
const MAX_TEXT = 20_000;
const MAX_FORMULA = 2_000;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const SPACE = /\s/;
const WORD = /[\p{L}\p{N}]/u;
const BARE_URL = /https?:\/\/[^\s<>"`|]+/y;
const URL_IN_BRACKETS = /https?:\/\/[^\s<>"`|\]]+/y;
const ANGLE_URL = /<((?:https?:\/\/|mailto:)[^\s<>]+)>/y;
/** The only tag that is no text: a cell of a table can break its line in no other way. */
const BREAK_TAG = /<br *\/?>/iy;
const CALCULATES = /\\[A-Za-z]|[\^_=+<>]/;
const NOTE = /\[\^([^\s[\]^]{1,100})\]/y;

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
 * Parses the text of a block. Unclosed markers and HTML are text, except for `<br>`. The work is linear for any text: it reads each character a bounded
 * number of times.
 */
export function parseInline(text: string): Inline[] {
  const nodes = new InlineParser(text.slice(0, MAX_TEXT)).parse();
  if (text.length > MAX_TEXT) nodes.push({ type: 'text', text: text.slice(MAX_TEXT) });
  return nodes;
}

class InlineParser {
  private readonly text: string;
  private readonly nodes: Inline[] = [];
  private readonly open: Opener[] = [];
  private readonly ticks: ReadonlyMap<number, Positions>;
  private readonly formulaEnds: ReadonlyMap<FormulaSign, Positions>;
  private at = 0;
  private textFrom = 0;

  constructor(text: string) {
    this.text = text;
    this.ticks = ticksOf(text);
    this.formulaEnds = formulaEnds(text);
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
        return this.note() || this.push('[', 1);
      case ']':
        return this.closeLink();
      case '<':
        return this.breakTag() || this.url(ANGLE_URL, 1);
      case '$':
        return this.dollars();
      case '&':
        return this.entity();
      case 'h':
        return (
          !WORD.test(this.text[this.at - 1] ?? ' ') && this.url(this.isInBrackets() ? URL_IN_BRACKETS : BARE_URL, 0)
        );
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
    if (next === '(' && this.formula(2, '\\)')) return true;
    if (next === '[' && this.formula(2, '\\]')) return true;
    return next !== undefined && PUNCTUATION.test(next) && this.take(2, { type: 'text', text: next });
  }

  private lineBreak(): boolean {
    return this.take(1, { type: 'break' });
  }

  private breakTag(): boolean {
    const tag = this.match(BREAK_TAG);
    return tag !== null && this.take(tag[0].length, { type: 'break' });
  }

  private entity(): boolean {
    const entity = entityAt(this.text, this.at);
    return entity !== null && this.take(entity.length, { type: 'text', text: withoutBidiControls(entity.text) });
  }

  private note(): boolean {
    const note = this.match(NOTE);
    return note !== null && this.take(note[0].length, { type: 'note', label: note[1] ?? '' });
  }

  /** An amount of money begins no formula, because the next dollar sign follows a space or stands before a number. */
  private dollars(): boolean {
    const length = runLength(this.text, this.at);
    const [before = ' ', after = ' '] = [this.text[this.at - 1], this.text[this.at + length]];
    const canOpen = length === 2 || (length === 1 && !SPACE.test(after) && !WORD.test(before));
    if (canOpen && this.formula(length, length === 1 ? '$' : '$$')) return true;
    this.at += length;
    return true;
  }

  private formula(length: number, end: FormulaSign): boolean {
    const from = this.at + length;
    const to = this.formulaEnds.get(end)?.after(from);
    if (to === undefined || to - from > MAX_FORMULA || (end === '$' && !isFormulaEnd(this.text, to))) return false;
    const source = this.text.slice(from, to);
    if (source.trim() === '' || source.includes('`') || source.includes('](')) return false;
    // Markdown escapes brackets so as well.
    if (end === '\\]' && !CALCULATES.test(source)) return false;
    const written = this.text.slice(this.at, to + end.length);
    return this.take(written.length, { type: 'formula', source, written });
  }

  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text);
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

  private isInBrackets(): boolean {
    return this.open.some(({ mark }) => mark === '[' || mark === '![');
  }

  private url(pattern: RegExp, brackets: 0 | 1): boolean {
    const match = this.match(pattern);
    if (!match) return false;
    const whole = brackets === 1 ? (match[1] ?? '') : withoutTail(match[0]);
    if (whole.length > MAX_URL) {
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
  if (!('children' in node)) return [node];
  const children = node.children.flatMap(withoutLinks);
  return node.type === 'link' ? children : [{ ...node, children }];
}
