export type Alignment = 'start' | 'center' | 'end' | null;

const MAX_COLUMNS = 30;
const DELIMITER = /^:?-+:?$/;

export function isDelimiterRow(line: string, head: string): boolean {
  if (!head.includes('|') || !/^[\s|:-]+$/.test(line) || !line.includes('-')) return false;
  const cells = cellsOf(line);
  return cells.length === cellsOf(head).length && cells.every((cell) => DELIMITER.test(cell));
}

/** The alignments of the columns. Left means the side at which the table's text begins, so that a mirrored table reads mirrored. */
export function alignmentsOf(delimiterRow: string): Alignment[] {
  return cellsOf(delimiterRow).map((cell) => {
    const [isStart, isEnd] = [cell.startsWith(':'), cell.endsWith(':')];
    if (isStart && isEnd) return 'center';
    return isEnd ? 'end' : isStart ? 'start' : null;
  });
}

/** The texts of a row's cells. A bar after a backslash is part of the cell. */
export function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner
    .split(/(?<!\\)\|/)
    .slice(0, MAX_COLUMNS)
    .map((cell) => cell.replaceAll('\\|', '|').trim());
}
