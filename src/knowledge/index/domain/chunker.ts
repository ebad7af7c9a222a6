import type { Block, ParsedDocument } from '../../parsing/domain/parsed-document.js';
import { CHUNK_SIZE, sizeOf, splitText } from './split-text.js';

export interface Chunk {
  /** The headings above it, outermost first, separated by ` › `; null if there are none. */
  readonly heading: string | null;
  /** The fragment for the page's address that leads nearest to its start. */
  readonly anchor: string | null;
  readonly page: number | null;
  readonly text: string;
}

export const HEADING_SEPARATOR = ' › ';
/** Longer headings are whole paragraphs, so the text has them too. */
const MAX_HEADING_LENGTH = 200;
/** A smaller section shares a chunk with its neighbours. */
const SMALL = 400;

interface Place {
  /** Headings, and the terms below them. */
  readonly path: readonly string[];
  /** How many names of the path are headings. */
  readonly headings: number;
  readonly page: number | null;
  readonly anchor: string | null;
}

interface Piece extends Place {
  readonly text: string;
  readonly size: number;
  /** It introduces the text after it: `The options are:`. */
  readonly isLead: boolean;
}

/** Cuts a document at its headings, then between paragraphs, rows, lines and sentences. */
export function* chunksOf({ blocks }: Pick<ParsedDocument, 'blocks'>): Generator<Chunk> {
  let open: Piece[] = [];
  let size = 0;
  for (const piece of pieces(blocks)) {
    const last = open.at(-1);
    if (last && !fits(last, piece, size)) {
      const kept = leadsOf(open, piece);
      if (kept.length < open.length) yield merged(open.slice(0, open.length - kept.length));
      open = kept;
      size = kept.reduce((sum, lead) => sum + lead.size, 0);
    }
    size += piece.size + (last && isUnder(last, piece) ? 0 : sizeOf(piece.path.at(-1) ?? ''));
    open.push(piece);
  }
  if (open.length > 0) yield merged(open);
}

/** The last pieces that introduce the next one and fit into a chunk with it. */
function leadsOf(open: readonly Piece[], next: Piece): Piece[] {
  let start = open.length;
  let size = next.size;
  for (let lead = open.at(start - 1); lead?.isLead === true && isUnder(lead, next); lead = open.at(start - 1)) {
    size += lead.size;
    if (start === 0 || size > CHUNK_SIZE.max) break;
    start -= 1;
  }
  return open.slice(start);
}

function isUnder(outer: Place, inner: Place): boolean {
  return outer.path.every((name, index) => inner.path[index] === name);
}

function fits(last: Piece, next: Piece, size: number): boolean {
  if (size + next.size > CHUNK_SIZE.target)
    return size < SMALL && size + next.size <= CHUNK_SIZE.max && sameTop(last, next);
  const isSameSection =
    last.headings === next.headings &&
    last.path.slice(0, last.headings).every((name, index) => next.path[index] === name);
  return isSameSection || (sameTop(last, next) && (size < SMALL || next.size < SMALL / 2));
}

function sameTop(left: Piece, right: Piece): boolean {
  return left.path[0] === right.path[0];
}

function merged(pieces: readonly Piece[]): Chunk {
  const path = commonPath(pieces.map((piece) => piece.path));
  const lines: string[] = [];
  let before: readonly string[] = path;
  for (const piece of pieces) {
    // A heading that not all pieces share becomes a line above its pieces.
    const own = piece.path.slice(path.length);
    if (own.length > 0 && own.join('\n') !== before.slice(path.length).join('\n'))
      lines.push(own.join(HEADING_SEPARATOR));
    before = piece.path;
    lines.push(piece.text);
  }
  const heading = path.join(HEADING_SEPARATOR);
  return {
    heading: heading === '' ? null : heading,
    anchor: pieces[0]?.anchor ?? null,
    page: pieces.find(({ page }) => page !== null)?.page ?? null,
    text: lines.join('\n\n'),
  };
}

function commonPath(paths: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = paths;
  const end = first.findIndex((name, index) => others.some((path) => path[index] !== name));
  return end < 0 ? first : first.slice(0, end);
}

function* pieces(blocks: readonly Block[]): Generator<Piece> {
  let path: { readonly level: number; readonly name: string }[] = [];
  // A heading without text below it is content: a table of contents, or a slide with only a title.
  let bare: Piece | null = null;
  const placeOf = ({ page, anchor, term }: Block): Place => {
    const names = path.map(({ name }) => name);
    return {
      path: term === undefined ? names : [...names, term],
      headings: names.length,
      page: page ?? null,
      anchor: anchor ?? null,
    };
  };
  for (const block of blocks) {
    if (block.kind !== 'heading') {
      const place = placeOf(block);
      for (const text of textsOf(block)) {
        bare = null;
        yield { ...place, text, size: sizeOf(text), isLead: block.kind === 'text' && /[:：]$/.test(text) };
      }
      continue;
    }
    const name = oneLine(block.text);
    if (name === '') continue;
    if (bare && (path.at(-1)?.level ?? 0) >= block.level) yield bare;
    path = path.filter(({ level }) => level < block.level);
    const outer = placeOf(block);
    path.push({ level: block.level, name: name.slice(0, MAX_HEADING_LENGTH).toWellFormed() });
    bare = { ...outer, text: name, size: sizeOf(name), isLead: false };
    if (name.length <= MAX_HEADING_LENGTH) continue;
    for (const text of paragraphs(name)) yield { ...placeOf(block), text, size: sizeOf(text), isLead: true };
    bare = null;
  }
  if (bare) yield bare;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function textsOf(block: Exclude<Block, { kind: 'heading' }>): Iterable<string> {
  if (block.kind === 'table') return tableTexts(block.rows);
  return block.kind === 'code' ? splitText(block.text, ['\n', ' ']) : paragraphs(block.text);
}

/** Each paragraph of a block is a piece, so that a change of one does not change the chunks of the others. */
function* paragraphs(text: string): Generator<string> {
  for (const paragraph of text.split(/\n\s*\n/)) yield* splitText(paragraph, ['item', 'sentence', '\n', 'word']);
}

/** Each part of a table repeats the captions and the row that names the columns. */
function* tableTexts(table: readonly (readonly string[])[]): Generator<string> {
  const line = (row: readonly string[]): string =>
    row
      .slice(0, row.findLastIndex((cell) => cell !== '') + 1)
      .map(oneLine)
      .join(' | ');
  const headerRows =
    Math.max(
      0,
      table.findIndex((row) => row.findLastIndex((cell) => cell !== '') > 0),
    ) + 1;
  const head = table.slice(0, headerRows).map(line).join('\n');
  const rows = table.slice(headerRows);
  // A header that takes most of a chunk is not repeated.
  const isRepeated = rows.length > 0 && sizeOf(head) <= CHUNK_SIZE.target / 2;
  if (!isRepeated) yield* splitText(head, ['\n', 'sentence', 'word']);
  let lines: string[] = [];
  const start = isRepeated ? sizeOf(head) : 0;
  let size = start;
  const part = (): string => [...(isRepeated ? [head] : []), ...lines].join('\n');
  for (const row of rows) {
    const limit = start + sizeOf(line(row)) <= CHUNK_SIZE.max ? CHUNK_SIZE.max : CHUNK_SIZE.target;
    for (const text of splitText(line(row), ['sentence', 'word'], limit - start)) {
      if (lines.length > 0 && size + sizeOf(text) > CHUNK_SIZE.target) {
        yield part();
        [lines, size] = [[], start];
      }
      lines.push(text);
      size += sizeOf(text);
    }
  }
  if (lines.length > 0) yield part();
}
