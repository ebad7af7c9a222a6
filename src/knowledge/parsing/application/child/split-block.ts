import type { Block } from '../../domain/parsed-document.js';

const OVERHEAD = 8;

const rowWeight = (row: readonly string[]): number => row.reduce((sum, cell) => sum + cell.length + OVERHEAD, 0);

export function weightOf(block: Block): number {
  return (
    OVERHEAD + (block.kind === 'table' ? block.rows.reduce((sum, row) => sum + rowWeight(row), 0) : block.text.length)
  );
}

/** Splits a block into smaller ones where its parts allow it. Each piece of a table begins with the captions and the column names. */
export function* splitBlock(block: Block, maxCharacters: number): Generator<Block> {
  if (weightOf(block) <= maxCharacters) yield block;
  else if (block.kind === 'table') yield* splitTable(block, maxCharacters);
  else for (const text of pieces(block.text, maxCharacters)) yield { ...block, text };
}

function* splitTable(
  { rows: all, ...block }: Block & { readonly kind: 'table' },
  maxCharacters: number,
): Generator<Block> {
  const columnNames = all.findIndex((row) => row.slice(1).some((cell) => cell !== ''));
  const head = all.slice(0, Math.max(0, columnNames) + 1);
  const start = head.reduce((sum, row) => sum + rowWeight(row), 0);
  if (start > maxCharacters / 4) {
    // Repeating such long column names would multiply the document.
    for (const row of all)
      for (const text of pieces(row.join('\n'), maxCharacters)) yield { ...block, kind: 'text', text };
    return;
  }
  let [rows, weight] = [[...head], start];
  for (const row of all.slice(head.length)) {
    if (rows.length > head.length && weight + rowWeight(row) > maxCharacters) {
      yield { ...block, rows };
      [rows, weight] = [[...head], start];
    }
    rows.push(row);
    weight += rowWeight(row);
  }
  yield { ...block, rows };
}

/** Cuts at the last line end or space in the second half of a piece, if there is one. */
function* pieces(text: string, maxCharacters: number): Generator<string> {
  let start = 0;
  while (text.length - start > maxCharacters) {
    const piece = text.slice(start, start + maxCharacters);
    const end = Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf(' ', piece.length));
    const cut = end > maxCharacters / 2 ? end + 1 : piece.isWellFormed() ? piece.length : piece.length - 1;
    yield text.slice(start, start + cut).trimEnd();
    start += cut;
  }
  yield text.slice(start);
}
