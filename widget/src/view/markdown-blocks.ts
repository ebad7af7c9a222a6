import {
  dedent,
  fenceOf,
  FenceTracker,
  formulaEnd,
  HEADING,
  indentOf,
  isBlank,
  isFenceEnd,
  markerOf,
  NOTE,
  QUOTE,
  RULE,
  UNDERLINE,
} from './markdown-lines.js';
import { isDelimiterRow } from './markdown-table.js';

export type BlockKind =
  'paragraph' | 'heading' | 'code' | 'formula' | 'quote' | 'list' | 'table' | 'rule' | 'note' | 'item' | 'row';

/** A block whose content is not parsed yet. */
export interface RawBlock {
  readonly kind: BlockKind;
  /** Blocks of one kind and variant differ only in their content. */
  readonly variant: string;
  readonly lines: readonly string[];
  /** The number of quotes and lists around it. */
  readonly depth: number;
}

/** Most nested quotes and lists; deeper ones are paragraphs. */
const MAX_DEPTH = 8;
/** Longer paragraphs become several, because a paragraph is drawn at once. */
export const MAX_PARAGRAPH = 10_000;
/** Longer tables become several with the same head, because a table is laid out at once. */
const MAX_ROWS = 500;
const CODE_INDENT = 4;
/** Writers often indent by two columns what belongs to an item, however wide its marker is. */
const LEAST_INDENT = 2;

/** Splits lines into blocks without parsing their contents. */
export function splitBlocks(lines: readonly string[], depth = 0): RawBlock[] {
  return [...scanBlocks(lines, depth)].map(({ block }) => block);
}

function* scanBlocks(lines: readonly string[], depth: number): Generator<{ block: RawBlock; from: number }> {
  for (let from = 0; from < lines.length;) {
    if (isBlank(lines[from] ?? '')) {
      from += 1;
      continue;
    }
    const [kind, end] = blockAt(lines, from, depth);
    const whole = { kind, variant: variantOf(kind, lines, from), lines: lines.slice(from, end), depth };
    for (const block of cut(whole)) yield { block, from };
    from = end;
  }
}

/** Splits a growing text: blocks that can no longer change keep their identity and are not read again. */
export class MarkdownSplitter {
  private readonly finished: RawBlock[] = [];
  /** The text of the finished blocks. */
  private head = '';

  split(text: string): readonly RawBlock[] {
    const whole = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
    if (!whole.startsWith(this.head)) {
      this.head = '';
      this.finished.length = 0;
    }
    const lines = whole.slice(this.head.length).split('\n');
    const found = [...scanBlocks(lines, 0)];
    // The first line of a block and the one after it say of what kind it is, and so that the block before it has ended.
    const last = found.findLast(({ from }) => from + 2 < lines.length)?.from ?? 0;
    for (const { block, from } of found) if (from < last) this.finished.push(block);
    if (last > 0) this.head = whole.slice(0, this.head.length + lines.slice(0, last).join('\n').length + 1);
    return [...this.finished, ...found.filter(({ from }) => from >= last).map(({ block }) => block)];
  }
}

function blockAt(lines: readonly string[], at: number, depth: number): readonly [BlockKind, number] {
  const kind = kindAt(lines, at, depth);
  const end = endOf(kind, lines, at, depth);
  return kind === 'paragraph' && UNDERLINE.test(lines[end] ?? '') ? ['heading', end + 1] : [kind, end];
}

function kindAt(lines: readonly string[], at: number, depth: number): BlockKind {
  const line = lines[at] ?? '';
  if (indentOf(line) >= CODE_INDENT || fenceOf(line)) return 'code';
  if (HEADING.test(line)) return 'heading';
  if (RULE.test(line)) return 'rule';
  if (depth < MAX_DEPTH && QUOTE.test(line)) return 'quote';
  if (depth < MAX_DEPTH && markerOf(line)) return 'list';
  if (depth === 0 && NOTE.test(line)) return 'note';
  if (formulaEnd(line) !== null) return 'formula';
  return isDelimiterRow(lines[at + 1] ?? '', line) ? 'table' : 'paragraph';
}

function variantOf(kind: BlockKind, lines: readonly string[], at: number): string {
  const line = lines[at] ?? '';
  switch (kind) {
    case 'code':
      return line;
    case 'list': {
      const { sign, number } = markerOf(line) ?? { sign: '', number: null };
      return `${sign}${number ?? ''}`;
    }
    case 'table':
      return `${line}\n${lines[at + 1] ?? ''}`;
    case 'note':
      return NOTE.exec(line)?.[1] ?? '';
    case 'paragraph':
    case 'heading':
    case 'formula':
    case 'quote':
    case 'rule':
    case 'item':
    case 'row':
      return '';
    default:
      return kind satisfies never;
  }
}

/** The line after the block's last. */
function endOf(kind: BlockKind, lines: readonly string[], from: number, depth: number): number {
  switch (kind) {
    case 'code':
      return endOfCode(lines, from);
    case 'heading':
    case 'rule':
    case 'item':
    case 'row':
      return from + 1;
    case 'quote':
      return endOfQuote(lines, from, depth);
    case 'list':
      return scanList(lines, from, depth).end;
    case 'note':
      return endOfNote(lines, from, depth);
    case 'formula':
      return endOfFormula(lines, from);
    case 'table':
      return endWhile(lines, from + 2, (line) => line.includes('|') && !isBlank(line));
    case 'paragraph':
      return endWhile(
        lines,
        from + 1,
        (line, at) => !isBlank(line) && !UNDERLINE.test(line) && continuesParagraph(lines, at, depth),
      );
    default:
      return kind satisfies never;
  }
}

function endWhile(lines: readonly string[], from: number, belongs: (line: string, at: number) => boolean): number {
  let at = from;
  while (at < lines.length && belongs(lines[at] ?? '', at)) at += 1;
  return at;
}

/** Indented lines begin code only after a blank line. A number at the beginning of a line is often part of a sentence. */
function continuesParagraph(lines: readonly string[], at: number, depth: number): boolean {
  const line = lines[at] ?? '';
  if (indentOf(line) >= CODE_INDENT) return true;
  const kind = kindAt(lines, at, depth);
  return kind === 'paragraph' || (kind === 'list' && (markerOf(line)?.number ?? 1) !== 1);
}

function endOfCode(lines: readonly string[], from: number): number {
  const fence = fenceOf(lines[from] ?? '');
  if (fence) return Math.min(endWhile(lines, from + 1, (line) => !isFenceEnd(line, fence)) + 1, lines.length);
  let end = endWhile(lines, from + 1, (line) => isBlank(line) || indentOf(line) >= CODE_INDENT);
  while (isBlank(lines[end - 1] ?? '')) end -= 1;
  return end;
}

/** A formula has no blank line: one that is not closed ends there. */
function endOfFormula(lines: readonly string[], from: number): number {
  const end = formulaEnd(lines[from] ?? '') ?? '$$';
  if ((lines[from] ?? '').trim().includes(end, 2)) return from + 1;
  const last = endWhile(lines, from + 1, (line) => !isBlank(line) && !line.includes(end));
  return lines[last]?.includes(end) === true ? last + 1 : last;
}

/** A line without a mark continues the paragraph of the quote. */
function endOfQuote(lines: readonly string[], from: number, depth: number): number {
  const fence = new FenceTracker();
  let isText = false;
  return endWhile(lines, from, (line, at) => {
    if (!QUOTE.test(line)) return isText && !isBlank(line) && continuesParagraph(lines, at, depth);
    const inner = line.replace(QUOTE, '');
    fence.read(inner);
    isText = !fence.isOpen && !isBlank(inner) && !HEADING.test(inner) && !RULE.test(inner) && !fenceOf(inner);
    return true;
  });
}

function endOfNote(lines: readonly string[], from: number, depth: number): number {
  let end = from + 1;
  for (let at = end; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (isBlank(line)) continue;
    if (indentOf(line) < LEAST_INDENT && !(end === at && continuesParagraph(lines, at, depth))) break;
    end = at + 1;
  }
  return end;
}

/** The parts of a long block. They remain the same while it grows. */
function cut(block: RawBlock): readonly RawBlock[] {
  if (block.kind === 'paragraph') return [...cutParagraph(block)];
  if (block.kind !== 'table' || block.lines.length <= MAX_ROWS) return [block];
  const [head = '', delimiters = '', ...rows] = block.lines;
  return Array.from({ length: Math.ceil(rows.length / MAX_ROWS) }, (_, index) => ({
    ...block,
    lines: [head, delimiters, ...rows.slice(index * MAX_ROWS, (index + 1) * MAX_ROWS)],
  }));
}

/** Cuts between words. */
function* cutParagraph(block: RawBlock): Generator<RawBlock> {
  let length = 0;
  for (const line of block.lines) length += line.length + 1;
  if (length <= MAX_PARAGRAPH) {
    yield block;
    return;
  }
  let rest = block.lines.join('\n');
  while (rest !== '') {
    const space = Math.max(rest.lastIndexOf(' ', MAX_PARAGRAPH), rest.lastIndexOf('\n', MAX_PARAGRAPH));
    const end = rest.length > MAX_PARAGRAPH && space > 0 ? space + 1 : MAX_PARAGRAPH;
    yield { ...block, lines: rest.slice(0, end).split('\n') };
    rest = rest.slice(end);
  }
}

interface ScannedList {
  /** The line after the list's last. */
  readonly end: number;
  readonly items: readonly (readonly string[])[];
  readonly hasBlankBetween: boolean;
}

/** Items of one sign, with the lines that belong to them. */
function scanList(lines: readonly string[], from: number, depth: number): ScannedList {
  let marker = markerOf(lines[from] ?? '');
  const items: string[][] = [];
  let [end, hasBlankBetween] = [from, false];
  let fence = new FenceTracker();
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (isBlank(line)) continue;
    const indent = indentOf(line);
    const next = at === from || indent < (marker?.width ?? 0) ? markerOf(line) : null;
    const isNext = next !== null && next.sign === marker?.sign && !RULE.test(line);
    const isInside = !isNext && indent >= Math.min(marker?.width ?? 0, (marker?.indent ?? 0) + LEAST_INDENT);
    // A line without a blank line before it continues the paragraph of the item.
    if (!isNext && !isInside && (end < at || fence.isOpen || !continuesParagraph(lines, at, depth))) break;
    if (isNext) {
      hasBlankBetween ||= at > end;
      [marker, fence] = [next, new FenceTracker()];
      items.push([next.rest]);
    } else {
      const item = items.at(-1) ?? [];
      for (let blank = end; blank < at; blank += 1) item.push('');
      item.push(isInside ? dedent(line, marker?.width ?? 0) : line.trimStart());
    }
    fence.read(items.at(-1)?.at(-1) ?? '');
    end = at + 1;
  }
  return { end, items, hasBlankBetween };
}

export interface List {
  /** Has no blank lines between its parts. */
  readonly isTight: boolean;
  readonly items: readonly RawBlock[];
}

const TASK = /^\[([ xX])\](?=\s)/;

/** The number of the first item; null for a list without numbers. */
export function startOf({ lines: [line = ''] }: RawBlock): number | null {
  return markerOf(line)?.number ?? null;
}

/** The items have the variant `task`, `done` or an empty one. */
export function readList({ lines, depth }: RawBlock): List {
  const { items, hasBlankBetween } = scanList(lines, 0, depth);
  return {
    isTight: !hasBlankBetween && !items.some((item) => hasGap(item, depth + 1)),
    items: items.map((item) => {
      const mark = TASK.exec(item[0] ?? '')?.[1];
      return {
        kind: 'item',
        variant: mark === undefined ? '' : mark === ' ' ? 'task' : 'done',
        lines: mark === undefined ? item : [(item[0] ?? '').slice(3).trimStart(), ...item.slice(1)],
        depth,
      };
    }),
  };
}

/** Whether a blank line is between the item's own blocks. */
function hasGap(item: readonly string[], depth: number): boolean {
  if (!item.includes('')) return false;
  return [...scanBlocks(item, depth)].some(({ from }) => from > 0 && item[from - 1] === '');
}

/** The blocks inside a quote, an item or a footnote. */
export function blocksInside({ kind, lines, depth }: RawBlock): RawBlock[] {
  if (kind === 'quote')
    return splitBlocks(
      lines.map((line) => line.replace(QUOTE, '')),
      depth + 1,
    );
  if (kind !== 'note') return splitBlocks(lines, depth + 1);
  const [first = '', ...more] = lines;
  return splitBlocks([first.replace(NOTE, ''), ...more.map((line) => dedent(line, CODE_INDENT))], depth + 1);
}

/** The text of a paragraph or a heading, with its inline marks. */
export function textOf({ kind, lines }: RawBlock): string {
  const [first = ''] = lines;
  const level = kind === 'heading' && lines.length === 1 ? (HEADING.exec(first)?.[1]?.length ?? 0) : 0;
  if (level > 0) return withoutClosing(first.trim().slice(level).trim());
  const own = kind === 'heading' ? lines.slice(0, -1) : lines;
  return own.map((line) => line.trim()).join('\n');
}

function withoutClosing(text: string): string {
  return text.replace(/(?:^|\s)#+$/, '').trimEnd();
}

/** @returns 1 to 6 */
export function levelOf({ lines }: RawBlock): number {
  if (lines.length > 1) return (lines.at(-1) ?? '').includes('=') ? 1 : 2;
  return HEADING.exec(lines[0] ?? '')?.[1]?.length ?? 1;
}

export interface Code {
  readonly language: string;
  readonly text: string;
  /** False while more text may follow. */
  readonly isClosed: boolean;
}

export function readCode({ lines }: RawBlock): Code {
  const [first = ''] = lines;
  const fence = fenceOf(first);
  if (!fence) return { language: '', text: lines.map((line) => dedent(line, CODE_INDENT)).join('\n'), isClosed: true };
  const indent = indentOf(first);
  const isClosed = lines.length > 1 && isFenceEnd(lines.at(-1) ?? '', fence);
  const text = lines
    .slice(1, isClosed ? -1 : undefined)
    .map((line) => dedent(line, indent))
    .join('\n');
  return { language: fence.language, text, isClosed };
}

export interface Formula {
  /** LaTeX; null if the formula is not closed. */
  readonly source: string | null;
  /** What stands after the formula, or the whole text of an unclosed one. */
  readonly after: string;
}

export function readFormula({ lines }: RawBlock): Formula {
  const text = lines.map((line) => line.trim()).join('\n');
  const close = text.startsWith('$$') ? '$$' : '\\]';
  const end = text.indexOf(close, 2);
  return end === -1
    ? { source: null, after: text }
    : { source: text.slice(2, end).trim(), after: text.slice(end + 2).trim() };
}
