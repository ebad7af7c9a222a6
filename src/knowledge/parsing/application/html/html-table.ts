import { BlockList } from '../formats/block-list.js';
import { MAX_COLUMNS } from '../../limits.js';
import type { HtmlElement } from './html-tree.js';

/** A cell with more letters is a part of a page that a table arranges. */
const MAX_DATA_CELL_LETTERS = 2_000;
/** Of a cell that stands in several rows; a longer text is told once. */
const MAX_REPEATED_CHARACTERS = 200;

/** Whether the table arranges parts of a page, or is broken, so that all in it is read like any other part of it. */
export function isLayout(table: HtmlElement): boolean {
  if (/^(?:presentation|none)$/.test(table.role)) return true;
  const cells = rowsIn(table).flatMap(cellsIn);
  const inCells = [...cells, ...table.elements.filter(isCaption)].reduce((sum, { letters }) => sum + letters, 0);
  return (
    inCells < table.letters ||
    cells.some(({ letters, parts }) => letters > MAX_DATA_CELL_LETTERS || (parts > 0 && letters > 0))
  );
}

/** Its caption, where it has one, and its rows, with a cell in each row and column that it spans. */
export function rowsOf(table: HtmlElement, textOf: (cell: HtmlElement) => string): string[][] {
  const rows: string[][] = [];
  /** Texts of cells from the rows before, by column, and in how many rows more they stand. */
  const spanning = new Map<number, { readonly text: string; rows: number }>();
  for (const caption of table.elements) if (isCaption(caption)) rows.push([textOf(caption)]);
  let cells = 0;
  for (const element of rowsIn(table)) {
    if (element.isLeftOut) continue;
    const row: string[] = [];
    const fill = (): void => {
      for (let above = spanning.get(row.length); above; above = spanning.get(row.length)) {
        if (above.rows <= 1) spanning.delete(row.length);
        else above.rows -= 1;
        row.push(above.text);
      }
    };
    for (const cell of cellsIn(element)) {
      if (cell.isLeftOut) continue;
      fill();
      const text = textOf(cell);
      const height = span(cell, 'rowspan', 1_000);
      if (height > 1)
        spanning.set(row.length, { text: text.length > MAX_REPEATED_CHARACTERS ? '' : text, rows: height - 1 });
      row.push(text, ...Array.from({ length: span(cell, 'colspan', MAX_COLUMNS) - 1 }, () => ''));
    }
    fill();
    cells += row.length;
    BlockList.checkCells(cells);
    rows.push(row);
  }
  return rows;
}

function span(cell: HtmlElement, attribute: 'rowspan' | 'colspan', max: number): number {
  return Math.min(max, Math.max(1, Number.parseInt(cell.attributes[attribute] ?? '1', 10) || 1));
}

const isCaption = ({ name }: HtmlElement): boolean => name === 'caption';

function rowsIn(table: HtmlElement): readonly HtmlElement[] {
  return table.elements.flatMap((part) =>
    part.name === 'tr' ? [part] : /^(?:thead|tbody|tfoot)$/.test(part.name) ? rowsIn(part) : [],
  );
}

function cellsIn(row: HtmlElement): readonly HtmlElement[] {
  return row.elements.filter(({ name }) => /^t[dh]$/.test(name));
}
