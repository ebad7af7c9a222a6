import { BlockList } from '../formats/block-list.js';
import { MAX_COLUMNS } from '../../limits.js';
import type { HtmlElement } from './html-tree.js';

/** A cell with more letters is a part of the page's layout. */
const MAX_DATA_CELL_LETTERS = 2_000;
/** A longer text of a cell that spans several rows is not repeated in each of them. */
const MAX_REPEATED_CHARACTERS = 200;

/** Whether the table is used for layout, or is broken. Its content is then read like any other element's. */
export function isLayout(table: HtmlElement): boolean {
  if (/^(?:presentation|none)$/.test(table.role)) return true;
  const cells = rowsIn(table).flatMap(cellsIn);
  const inCells = [...cells, ...table.elements.filter(isCaption)].reduce((sum, { letters }) => sum + letters, 0);
  return (
    inCells < table.letters ||
    cells.some(({ letters, parts }) => letters > MAX_DATA_CELL_LETTERS || (parts > 0 && letters > 0))
  );
}

/** The caption, if there is one, and the rows. A cell that spans several rows is repeated in each. */
export function rowsOf(table: HtmlElement, cellText: (cell: HtmlElement) => string): string[][] {
  const rows: string[][] = [];
  /** Cells of earlier rows that span further rows, by column, with the number of those rows. */
  const spanning = new Map<number, { readonly text: string; rows: number }>();
  for (const caption of table.elements) if (isCaption(caption)) rows.push([cellText(caption)]);
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
      const text = cellText(cell);
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
