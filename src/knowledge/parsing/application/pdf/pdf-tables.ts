import { joined, type Line, type Segment } from './pdf-lines.js';

export interface Table {
  readonly kind: 'table';
  readonly rows: string[][];
  readonly columns: readonly Column[];
  readonly length: number;
}

interface Column {
  readonly left: number;
  readonly right: number;
}

const MIN_ROWS = 3;
/** The largest distance between the lines of a table, in letter sizes. */
const MAX_ROW_GAP = 3.5;

/** The table that begins with the first of these lines, if any: lines of several segments below one another. */
export function tableAt(lines: readonly Line[]): Table | undefined {
  const [first] = lines;
  if (!first || first.segments.length < 2) return undefined;
  let length = 1;
  for (let next = lines[length]; next && follows(lines[length - 1] ?? first, next, first); next = lines[length])
    length += 1;
  // A single first cell at the end is more likely the text after the table.
  while (length > 0 && isFirstCell(lines[length - 1], first)) length -= 1;
  const taken = lines.slice(0, length);
  const columns = columnsOf(taken);
  if (!columns) return undefined;
  return { kind: 'table', rows: rowsOf(taken, columns), columns, length };
}

function follows(before: Line, line: Line, first: Line): boolean {
  const gap = before.y - line.y;
  if (gap <= 0 || gap > Math.max(before.size, line.size) * MAX_ROW_GAP) return false;
  const second = first.segments[1]?.left ?? 0;
  // A single cell continues a row: its other cells are empty or have fewer lines.
  return line.segments.length > 1 || line.left > second - line.size || line.right < second;
}

function isFirstCell(line: Line | undefined, first: Line): boolean {
  return line?.segments.length === 1 && line.left < (first.segments[1]?.left ?? 0) - line.size;
}

function columnsOf(lines: readonly Line[]): readonly Column[] | undefined {
  const byCount = Map.groupBy(
    lines.filter(({ segments }) => segments.length > 1),
    ({ segments }) => segments.length,
  );
  const [usual = []] = [...byCount.values()].sort(
    (a, b) => b.length - a.length || (b[0]?.segments.length ?? 0) - (a[0]?.segments.length ?? 0),
  );
  if (usual.length < Math.min(MIN_ROWS, lines.length) || usual.length < MIN_ROWS - 1) return undefined;
  const columns = (usual[0]?.segments ?? []).map((_, at) => ({
    left: Math.min(...usual.map(({ segments }) => segments[at]?.left ?? Infinity)),
    right: Math.max(...usual.map(({ segments }) => segments[at]?.right ?? 0)),
  }));
  return columns.every(({ left }, at) => at === 0 || left > (columns[at - 1]?.right ?? 0)) ? columns : undefined;
}

function rowsOf(lines: readonly Line[], columns: readonly Column[]): string[][] {
  const cells = lines.map((line) =>
    columns.map((_, column) =>
      line.segments
        .filter((segment) => columnOf(segment, columns) === column)
        .map(({ text }) => text)
        .join(' '),
    ),
  );
  const starts = [...lines.keys()].filter((at) => cells[at]?.[0] !== '');
  const rows = new Map<number, string[]>();
  for (const [at, line] of lines.entries()) {
    const owner = ownerOf(line, at, { lines, starts, isHanging: columns.length === 2 });
    const row = rows.get(owner) ?? columns.map(() => '');
    rows.set(
      owner,
      row.map((cell, column) => joinedCell(cell, cells[at]?.[column] ?? '')),
    );
  }
  return [...rows].sort(([a], [b]) => a - b).map(([, row]) => row);
}

/**
 * The first line of the row that a line belongs to. A line without a first cell continues the row above in a list of terms, and
 * otherwise the nearest row, since cells may be centred vertically.
 */
function ownerOf(
  line: Line,
  at: number,
  {
    lines,
    starts,
    isHanging,
  }: { readonly lines: readonly Line[]; readonly starts: readonly number[]; readonly isHanging: boolean },
): number {
  if (isHanging) return starts.findLast((start) => start <= at) ?? at;
  const distance = (start: number): number => Math.abs((lines[start]?.y ?? 0) - line.y);
  const nearest = starts.reduce((best, start) => (distance(start) < distance(best) ? start : best), starts[0] ?? at);
  return distance(nearest) < line.size * MAX_ROW_GAP ? nearest : at;
}

function joinedCell(cell: string, more: string): string {
  return cell === '' || more === '' ? cell + more : joined(cell, more).replace('\n', ' ');
}

function columnOf({ left, right }: Segment, columns: readonly Column[]): number {
  const overlaps = columns.map((column) => Math.min(right, column.right) - Math.max(left, column.left));
  return overlaps.indexOf(Math.max(...overlaps));
}

/** The rows of the second table if it continues the first on the next page, without a repeated header. */
export function continuation(table: Table, { columns, rows }: Table): readonly string[][] | undefined {
  const isSame =
    columns.length === table.columns.length &&
    columns.every(({ left }, at) => Math.abs(left - (table.columns[at]?.left ?? 0)) < 10);
  if (!isSame) return undefined;
  return rows[0]?.join('|') === table.rows[0]?.join('|') ? rows.slice(1) : rows;
}
