import { BlockList } from '../formats/block-list.js';
import { MAX_COLUMNS } from '../../limits.js';
import type { NumberFormats } from './xlsx-formats.js';
import { type Attributes, isOn, type XmlHandler } from './xml.js';

/** The rows of a sheet that hold anything, without those and the columns that are hidden; a cell far out costs no more than one close by. */
export class Sheet implements XmlHandler {
  readonly rows: string[][] = [];
  private readonly hiddenColumns = new Set<number>();
  private isRowHidden = false;
  private row: string[] = [];
  private column = -1;
  private kind = '';
  private style = 0;
  private value = '';
  private isValue = false;
  private held = 0;
  private cells = 0;

  constructor(
    private readonly strings: readonly string[],
    private readonly formats: NumberFormats,
  ) {}

  readonly open = (name: string, attributes: Attributes): void => {
    if (name === 'col') this.readColumns(attributes);
    else if (name === 'row') this.startRow(attributes);
    else if (name === 'c') this.startCell(attributes);
    else if (name === 'v' || name === 't') this.isValue = true;
  };

  readonly text = (text: string): void => {
    if (!this.isValue) return;
    this.held += text.length;
    BlockList.checkHeld(this.held);
    this.value += text;
  };

  readonly close = (name: string): void => {
    if (name === 'v' || name === 't') this.isValue = false;
    else if (name === 'c') this.endCell();
    else if (name === 'row' && this.row.length > 0) this.rows.push(this.visibleCells());
  };

  private readColumns({ min, max, hidden = '0' }: Attributes): void {
    if (!isOn(hidden)) return;
    for (let column = Number(min); column <= Math.min(MAX_COLUMNS, Number(max)); column += 1) this.hiddenColumns.add(column - 1);
  }

  private visibleCells(): string[] {
    return Array.from(this.row, (cell: string | undefined) => cell ?? '').filter((_, column) => !this.hiddenColumns.has(column));
  }

  private startRow({ hidden = '0' }: Attributes): void {
    this.isRowHidden = isOn(hidden);
    this.row = [];
    this.column = -1;
  }

  private startCell({ r, t = '', s }: Attributes): void {
    this.column = r === undefined ? this.column + 1 : columnOf(r);
    this.kind = t;
    this.style = Number(s) || 0;
    this.value = '';
  }

  private endCell(): void {
    const text = this.cellText();
    if (text === '' || this.isRowHidden || this.column >= MAX_COLUMNS) return;
    // The empty ones before it are made with it.
    this.cells += Math.max(0, this.column + 1 - this.row.length);
    BlockList.checkCells(this.cells);
    this.held += text.length;
    BlockList.checkHeld(this.held);
    this.row[this.column] = text;
  }

  private cellText(): string {
    switch (this.kind) {
      case 's':
        return this.strings[Number(this.value)] ?? '';
      case 'b':
        return this.value === '1' ? 'TRUE' : 'FALSE';
      case '':
      case 'n':
        return this.value === '' ? '' : this.formats.show(Number(this.value), this.style);
      default:
        return this.value;
    }
  }
}

/** `C7` is in the column 2. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,3}/.exec(reference)?.[0] ?? 'A') column = column * 26 + letter.charCodeAt(0) - 64;
  return column - 1;
}
