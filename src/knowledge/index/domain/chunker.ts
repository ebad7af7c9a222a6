import type { Block, ParsedDocument } from '../../parsing/domain/parsed-document.js';
import { CHUNK_SIZE, sizeOf } from './chunk-size.js';
import { splitText } from './split-text.js';

export interface Chunk {
  /** The headings above it, outermost first; null where there are none. */
  readonly heading: string | null;
  /** Of the page, nearest above it: what stands after the `#` of an address. */
  readonly anchor?: string | null;
  readonly page: number | null;
  readonly text: string;
}

export const HEADING_SEPARATOR = ' › ';
/** Headings that are whole paragraphs say nothing as headings. */
const MAX_HEADING_LENGTH = 200;
/** Below it a section shares a chunk with its neighbours. */
const SMALL = 400;

interface Piece {
  readonly path: readonly string[];
  readonly page: number | null;
  readonly text: string;
  readonly size: number;
}

/** Cuts a document where it is cut already: at its headings, then between paragraphs, rows, lines and sentences. */
export function* chunksOf({ blocks }: Pick<ParsedDocument, 'blocks'>): Generator<Chunk> {
  let open: Piece[] = [];
  let size = 0;
  for (const piece of pieces(blocks)) {
    const last = open.at(-1);
    if (last && !fits(last, piece, size)) {
      yield merged(open);
      [open, size] = [[], 0];
    }
    open.push(piece);
    size += piece.size;
  }
  if (open.length > 0) yield merged(open);
}

function fits(last: Piece, next: Piece, size: number): boolean {
  if (size + next.size > CHUNK_SIZE.target) return size < SMALL && size + next.size <= CHUNK_SIZE.max && sameTop(last, next);
  if (last.path.join('\n') === next.path.join('\n')) return true;
  return sameTop(last, next) && (size < SMALL || next.size < SMALL / 2);
}

function sameTop(left: Piece, right: Piece): boolean {
  return left.path[0] === right.path[0];
}

function merged(pieces: readonly Piece[]): Chunk {
  const path = commonPath(pieces.map((piece) => piece.path));
  const lines: string[] = [];
  let before: readonly string[] = path;
  for (const piece of pieces) {
    // What is under a heading of its own keeps it, as a line above it.
    const own = piece.path.slice(path.length);
    if (own.length > 0 && own.join('\n') !== before.slice(path.length).join('\n')) lines.push(own.join(HEADING_SEPARATOR));
    before = piece.path;
    lines.push(piece.text);
  }
  const heading = path.join(HEADING_SEPARATOR);
  return { heading: heading === '' ? null : heading, page: pieces.find(({ page }) => page !== null)?.page ?? null, text: lines.join('\n\n') };
}

function commonPath(paths: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = paths;
  const end = first.findIndex((name, index) => others.some((path) => path[index] !== name));
  return end < 0 ? first : first.slice(0, end);
}

function* pieces(blocks: readonly Block[]): Generator<Piece> {
  const path: { readonly level: number; readonly name: string }[] = [];
  // A heading with nothing under it is content: a list of contents, or a slide with a title alone.
  let bare: { readonly name: string; readonly page: number | null } | null = null;
  const names = (): string[] => path.map(({ name }) => name);
  const piece = (text: string, page: number | null, under = names()): Piece => ({ path: under, page, text, size: sizeOf(text) });
  for (const block of blocks) {
    const page = block.page ?? null;
    if (block.kind === 'heading') {
      const name = block.text.replace(/\s+/g, ' ').trim();
      if (name === '') continue;
      const isDeeper = (path.at(-1)?.level ?? 0) < block.level;
      if (bare && !isDeeper) yield piece(bare.name, bare.page, names().slice(0, -1));
      while ((path.at(-1)?.level ?? 0) >= block.level) path.pop();
      path.push({ level: block.level, name: name.slice(0, MAX_HEADING_LENGTH).toWellFormed() });
      bare = { name, page };
      continue;
    }
    for (const text of textsOf(block)) {
      bare = null;
      yield piece(text, page);
    }
  }
  if (bare) yield piece(bare.name, bare.page, names().slice(0, -1));
}

function textsOf(block: Exclude<Block, { kind: 'heading' }>): Iterable<string> {
  if (block.kind === 'table') return tableTexts(block.rows);
  return block.kind === 'code' ? splitText(block.text, ['\n', ' ']) : paragraphs(block.text);
}

/** Paragraphs that were given as one are pieces of their own, so that one that has changed leaves the chunks of others alone. */
function* paragraphs(text: string): Generator<string> {
  for (const paragraph of text.split(/\n\s*\n/)) yield* splitText(paragraph, ['\n', 'sentence', 'word']);
}

function* tableTexts([header = [], ...rows]: readonly (readonly string[])[]): Generator<string> {
  const line = (row: readonly string[]): string => row.map((cell) => cell.replace(/\s+/g, ' ').trim()).join(' | ');
  const head = line(header).slice(0, CHUNK_SIZE.target / 2).toWellFormed();
  if (rows.length === 0) {
    yield* splitText(line(header), ['sentence', 'word']);
    return;
  }
  let lines: string[] = [];
  let size = 0;
  for (const row of rows) {
    for (const part of splitText(line(row), ['sentence', 'word'], CHUNK_SIZE.target - Math.min(sizeOf(head), CHUNK_SIZE.target / 2))) {
      if (lines.length > 0 && sizeOf(head) + size + sizeOf(part) > CHUNK_SIZE.target) {
        yield [head, ...lines].join('\n');
        [lines, size] = [[], 0];
      }
      lines.push(part);
      size += sizeOf(part);
    }
  }
  if (lines.length > 0) yield [head, ...lines].join('\n');
}
