import { UnreadableDocument } from '../../domain/parsing.errors.js';
import type { Block } from '../../domain/parsed-document.js';
import { MAX_CELL_CHARACTERS, MAX_CELLS, MAX_COLUMNS, MAX_TEXT_CHARACTERS } from '../../limits.js';
import { oneLine, tidy, visible } from './text-of.js';

const TOO_MUCH = `The document holds more text than can be read: at most ${MAX_TEXT_CHARACTERS / 1_000_000} million characters.`;

/** Collects the blocks of one document, tidied and within bounds. */
export class BlockList {
  private readonly list: Block[] = [];
  private characters = 0;
  private cells = 0;
  /** Those of what is added from now on. */
  page: number | undefined;
  anchor: string | undefined;
  term: string | undefined;

  get blocks(): readonly Block[] {
    return this.list;
  }

  heading(level: number, text: string): void {
    const line = oneLine(text);
    if (line !== '') this.add({ kind: 'heading', level: Math.min(6, Math.max(1, level)), text: line }, line.length);
  }

  text(text: string): void {
    const tidied = tidy(text).trim();
    if (tidied !== '') this.add({ kind: 'text', text: tidied }, tidied.length);
  }

  code(text: string): void {
    const shown = visible(text).replace(/^\n+/, '').trimEnd();
    if (shown !== '') this.add({ kind: 'code', text: shown }, shown.length);
  }

  /** Empty rows, and columns that are empty everywhere at the end, are left out. */
  table(rows: readonly (readonly string[])[]): void {
    const filled = rows.map((row) => row.slice(0, MAX_COLUMNS).map(cellText)).filter((row) => row.some((cell) => cell !== ''));
    const width = filled.reduce((widest, row) => Math.max(widest, row.findLastIndex((cell) => cell !== '') + 1), 0);
    if (width === 0) return;
    if (width === 1) {
      this.text(filled.map(([cell = '']) => cell).join('\n'));
      return;
    }
    // One wide row makes all of them wide.
    this.cells += filled.length * width;
    BlockList.checkCells(this.cells);
    const even = filled.map((row) => Array.from({ length: width }, (_, column) => row[column] ?? ''));
    this.add({ kind: 'table', rows: even }, even.reduce((sum, row) => sum + row.reduce((length, cell) => length + cell.length, 0), 0));
  }

  /** For readers that hold cells before they make a table of them. */
  static checkCells(cells: number): void {
    if (cells > MAX_CELLS) {
      throw new UnreadableDocument('too_large', `The document holds more table cells than can be read: at most ${MAX_CELLS / 1_000_000} million.`);
    }
  }

  /** For readers that hold text before they make a block of it. */
  static checkHeld(characters: number): void {
    if (characters > MAX_TEXT_CHARACTERS) throw new UnreadableDocument('too_large', TOO_MUCH);
  }

  /** One that another reader made. */
  add(block: Block, characters = lengthOf(block)): void {
    const place = { ...(this.page !== undefined && { page: this.page }), ...(this.anchor !== undefined && { anchor: this.anchor }), ...(this.term !== undefined && { term: this.term }) };
    this.characters += characters + (this.anchor?.length ?? 0) + (this.term?.length ?? 0);
    BlockList.checkHeld(this.characters);
    this.list.push({ ...block, ...place });
  }
}

function cellText(cell: string): string {
  return tidy(cell).trim().slice(0, MAX_CELL_CHARACTERS);
}

function lengthOf(block: Block): number {
  if (block.kind !== 'table') return block.text.length;
  return block.rows.reduce((sum, row) => sum + row.reduce((length, cell) => length + cell.length, 0), 0);
}
