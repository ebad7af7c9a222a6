import { type Inline, parseInline } from './markdown-inline.js';

export type Block =
  | { readonly type: 'paragraph'; readonly children: readonly Inline[] }
  | { readonly type: 'heading'; readonly level: number; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'list'; readonly start: number | null; readonly items: readonly (readonly Block[])[] }
  | {
      readonly type: 'table';
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly type: 'rule' };

/** An unparsed block: its kind and its lines. */
export interface RawBlock {
  readonly kind: Block['type'];
  readonly lines: readonly string[];
}

/** Most nested quotes and lists; deeper ones are paragraphs. */
const MAX_DEPTH = 8;
const MAX_COLUMNS = 30;

/*
 * No expression here has two adjacent parts that match the same character: on a line of 100,000 of them it would take quadratic time.
 */
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+|$)/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?: +|\t|$)/;
const DELIMITER = /^:?-+:?$/;
const BLANK = /^\s*$/;
/** A line with this indentation belongs to the item before it. */
const ITEM_INDENT = 2;

export function parseMarkdown(text: string): Block[] {
  return splitBlocks(text).map((raw) => parseBlock(raw));
}

/** Splits a text into blocks without parsing their contents, so that only the last block of a growing text is parsed again. */
export function splitBlocks(text: string): RawBlock[] {
  return split(text.replace(/\r\n?/g, '\n').split('\n'), 0);
}

export function parseBlock({ kind, lines }: RawBlock, depth = 0): Block {
  switch (kind) {
    case 'paragraph':
      return {
        type: kind,
        children: parseInline(
          lines
            .map((line) => line.trimStart())
            .join('\n')
            .trimEnd(),
        ),
      };
    case 'heading': {
      const [line = ''] = lines;
      const level = HEADING.exec(line)?.[1]?.length ?? 1;
      return {
        type: kind,
        level,
        children: parseInline(
          line
            .trim()
            .slice(level)
            .trim()
            .replace(/(?:^| )#+$/, ''),
        ),
      };
    }
    case 'code':
      return codeOf(lines);
    case 'quote':
      return {
        type: kind,
        blocks: inside(
          lines.map((line) => line.replace(QUOTE, '')),
          depth,
        ),
      };
    case 'list':
      return { type: kind, start: startOf(lines), items: itemsOf(lines).map((item) => inside(item, depth)) };
    case 'table':
      return tableOf(lines);
    case 'rule':
      return { type: kind };
    default:
      return kind satisfies never;
  }
}

function inside(lines: readonly string[], depth: number): Block[] {
  return split(lines, depth + 1).map((raw) => parseBlock(raw, depth + 1));
}

function split(lines: readonly string[], depth: number): RawBlock[] {
  const blocks: RawBlock[] = [];
  for (let at = 0; at < lines.length;) {
    if (BLANK.test(lines[at] ?? '')) {
      at += 1;
      continue;
    }
    const kind = kindAt(lines, at, depth);
    const end = endOf(kind, lines, at, depth);
    blocks.push({ kind, lines: lines.slice(at, end) });
    at = end;
  }
  return blocks;
}

function kindAt(lines: readonly string[], at: number, depth: number): Block['type'] {
  const line = lines[at] ?? '';
  if (FENCE.test(line)) return 'code';
  if (HEADING.test(line)) return 'heading';
  if (RULE.test(line)) return 'rule';
  if (depth < MAX_DEPTH && QUOTE.test(line)) return 'quote';
  if (depth < MAX_DEPTH && ITEM.test(line)) return 'list';
  const next = lines[at + 1] ?? '';
  return line.includes('|') && isDelimiterRow(next) ? 'table' : 'paragraph';
}

function isDelimiterRow(line: string): boolean {
  return line.includes('|') && cellsOf(line).every((cell) => DELIMITER.test(cell));
}

/** The line after the block's last. */
function endOf(kind: Block['type'], lines: readonly string[], from: number, depth: number): number {
  switch (kind) {
    case 'code':
      return endOfFence(lines, from);
    case 'heading':
    case 'rule':
      return from + 1;
    case 'quote':
      return endWhile(lines, from, (line) => !BLANK.test(line) && QUOTE.test(line));
    case 'list':
      return endOfList(lines, from);
    case 'table':
      return endWhile(lines, from, (line) => line.includes('|') && !BLANK.test(line));
    case 'paragraph':
      return endWhile(lines, from, (line, at) => !BLANK.test(line) && kindAt(lines, at, depth) === 'paragraph');
    default:
      return kind satisfies never;
  }
}

function endWhile(lines: readonly string[], from: number, belongs: (line: string, at: number) => boolean): number {
  let at = from + 1;
  while (at < lines.length && belongs(lines[at] ?? '', at)) at += 1;
  return at;
}

function endOfFence(lines: readonly string[], from: number): number {
  const fence = FENCE.exec(lines[from] ?? '')?.[1] ?? '';
  const end = endWhile(lines, from, (line) => !isFenceEnd(line, fence));
  return Math.min(end + 1, lines.length);
}

function isFenceEnd(line: string, fence: string): boolean {
  const text = line.trim();
  return text.length >= fence.length && text === (fence[0] ?? '').repeat(text.length);
}

function indentOf(line: string): number {
  const indent = /^[ \t]*/.exec(line)?.[0] ?? '';
  return indent.includes('\t') ? Math.max(indent.length, ITEM_INDENT) : indent.length;
}

/** Items of one kind, with the indented and blank lines between them. */
function endOfList(lines: readonly string[], from: number): number {
  const isOrdered = isOrderedItem(lines[from] ?? '');
  let end = from + 1;
  for (let at = from + 1; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (BLANK.test(line)) continue;
    const isOfItem = indentOf(line) >= ITEM_INDENT;
    const isItem = !isOfItem && ITEM.test(line) && !RULE.test(line) && isOrderedItem(line) === isOrdered;
    // A line without a blank line before it continues the paragraph of the item.
    const isLazy =
      end === at && !isItem && kindAt(lines, at, MAX_DEPTH) === 'paragraph' && !ITEM.test(line) && !QUOTE.test(line);
    if (!isOfItem && !isItem && !isLazy) break;
    end = at + 1;
  }
  return end;
}

function isOrderedItem(line: string): boolean {
  return /^\s*\d/.test(line);
}

function startOf(lines: readonly string[]): number | null {
  const number = /^\s*(\d{1,9})/.exec(lines[0] ?? '')?.[1];
  return number === undefined ? null : Number(number);
}

function itemsOf(lines: readonly string[]): string[][] {
  const items: string[][] = [];
  for (const line of lines) {
    const marker = indentOf(line) < ITEM_INDENT ? ITEM.exec(line) : null;
    if (marker) items.push([line.slice(marker[0].length)]);
    else items.at(-1)?.push(line.replace(/^(?:\t| {1,4})/, ''));
  }
  return items;
}

function codeOf(lines: readonly string[]): Block {
  const [, fence = '', info = ''] = FENCE.exec(lines[0] ?? '') ?? [];
  const [language = ''] = info.trim().split(/\s/, 1);
  const isClosed = lines.length > 1 && isFenceEnd(lines.at(-1) ?? '', fence);
  return { type: 'code', language, text: lines.slice(1, isClosed ? -1 : undefined).join('\n') };
}

function tableOf([head = '', , ...rows]: readonly string[]): Block {
  const columns = cellsOf(head);
  const fill = (cells: readonly string[]): Inline[][] => columns.map((_, index) => parseInline(cells[index] ?? ''));
  return { type: 'table', head: columns.map((cell) => parseInline(cell)), rows: rows.map((row) => fill(cellsOf(row))) };
}

/** A bar after a backslash is part of the cell. */
function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner
    .split(/(?<!\\)\|/)
    .slice(0, MAX_COLUMNS)
    .map((cell) => cell.replaceAll('\\|', '|').trim());
}
