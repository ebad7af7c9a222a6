import { UnreadableDocument } from '../../domain/parsing.errors.js';
import type { Block } from '../../domain/parsed-document.js';
import { MAX_CELL_CHARACTERS, MAX_CELLS, MAX_COLUMNS, MAX_TEXT_CHARACTERS } from '../../limits.js';
import { oneLine, printable, tidy } from './clean-text.js';

const TOO_MUCH_TEXT = `The document holds more text than can be read: at most ${MAX_TEXT_CHARACTERS / 1_000_000} million characters.`;
const TOO_MANY_CELLS = `The document holds more table cells than can be read: at most ${MAX_CELLS / 1_000_000} million.`;

/** Collects the blocks of one document, cleans their text and limits their size. */
export class BlockList {
  readonly blocks: Block[] = [];
  /** The place of the blocks that are added next. */
  page: number | undefined;
  anchor: string | undefined;
  term: string | undefined;
  private characters = 0;
  private cells = 0;

  heading(level: number, text: string): void {
    const line = oneLine(text);
    if (line !== '') this.add({ kind: 'heading', level: Math.min(6, Math.max(1, level)), text: line });
  }

  text(text: string): void {
    const tidied = tidy(text).trim();
    if (tidied !== '') this.add({ kind: 'text', text: tidied });
  }

  code(text: string): void {
    const code = printable(text).replace(/^\n+/, '').trimEnd();
    if (code !== '') this.add({ kind: 'code', text: code });
  }

  /** Leaves out empty rows and, at the end of all rows, empty columns. */
  table(rows: readonly (readonly string[])[]): void {
    const filled = rows
      .map((row) => row.slice(0, MAX_COLUMNS).map(cellText))
      .filter((row) => row.some((cell) => cell !== ''));
    const width = filled.reduce((widest, row) => Math.max(widest, row.findLastIndex((cell) => cell !== '') + 1), 0);
    if (width === 0) return;
    if (width === 1) return this.text(filled.map(([cell = '']) => cell).join('\n'));
    this.cells += filled.length * width;
    BlockList.checkCells(this.cells);
    this.add({
      kind: 'table',
      rows: filled.map((row) => Array.from({ length: width }, (_, column) => row[column] ?? '')),
    });
  }

  /** For readers that collect cells before they add a table. @throws UnreadableDocument */
  static checkCells(cells: number): void {
    if (cells > MAX_CELLS) throw new UnreadableDocument('too_large', TOO_MANY_CELLS);
  }

  /** For readers that collect text before they add a block. @throws UnreadableDocument */
  static checkHeld(characters: number): void {
    if (characters > MAX_TEXT_CHARACTERS) throw new UnreadableDocument('too_large', TOO_MUCH_TEXT);
  }

  private add(block: Block): void {
    const { page, anchor, term } = this;
    this.characters += lengthOf(block) + (anchor?.length ?? 0) + (term?.length ?? 0);
    BlockList.checkHeld(this.characters);
    this.blocks.push({
      ...block,
      ...(page !== undefined && { page }),
      ...(anchor !== undefined && { anchor }),
      ...(term !== undefined && { term }),
    });
  }
}

type Heading = Extract<Block, { kind: 'heading' }>;

/** The title of a document that declares none: its first heading, unless `mayBeTitle` rejects it. */
export function firstHeading(
  blocks: readonly Block[],
  mayBeTitle: (heading: Heading) => boolean = () => true,
): string | null {
  const first = blocks.find((block) => block.kind === 'heading');
  return first && mayBeTitle(first) ? first.text : null;
}

function cellText(cell: string): string {
  return tidy(cell).trim().slice(0, MAX_CELL_CHARACTERS);
}

function lengthOf(block: Block): number {
  if (block.kind !== 'table') return block.text.length;
  return block.rows.reduce((sum, row) => sum + row.reduce((length, cell) => length + cell.length, 0), 0);
}
