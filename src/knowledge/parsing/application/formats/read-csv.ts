import { parse } from 'csv-parse/sync';
import { decode } from '../detection/charset.js';
import { BlockList } from './block-list.js';
import type { FormatReader } from './reading.js';

const SEPARATORS = [',', ';', '\t', '|'] as const;
const SAMPLE_LINES = 20;
const SAMPLE_CHARACTERS = 64 * 1024;

/** The separator that most lines contain equally often. */
function separatorOf(text: string): string {
  const sample = text.slice(0, SAMPLE_CHARACTERS).replace(/"[^"]*"/g, '');
  const lines = sample
    .split(/\r\n?|\n/)
    .filter((line) => line !== '')
    .slice(0, SAMPLE_LINES);
  const scores = SEPARATORS.map((separator) => {
    const counts = lines.map((line) => line.split(separator).length - 1);
    const usual = counts.toSorted((a, b) => a - b)[Math.floor(counts.length / 2)] ?? 0;
    return usual === 0 ? 0 : counts.filter((count) => count === usual).length * 100 + Math.min(99, usual);
  });
  const best = Math.max(...scores);
  return best === 0 ? ',' : (SEPARATORS[scores.indexOf(best)] ?? ',');
}

/** Spreadsheet programs declare the separator in a first line. */
const DECLARED = /^sep=(.)\r?\n/;

export const readCsv: FormatReader = async ({ content, contentType }) => {
  const decoded = decode(content, contentType, false);
  BlockList.checkHeld(decoded.length);
  const declared = DECLARED.exec(decoded);
  const text = declared ? decoded.slice(declared[0].length) : decoded;
  let cells = 0;
  const rows: string[][] = parse(text, {
    delimiter: declared?.[1] ?? separatorOf(text),
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    on_record: (record: string[]) => {
      cells += record.length;
      BlockList.checkCells(cells);
      return record;
    },
  });
  const blocks = new BlockList();
  blocks.table(rows);
  return { title: null, language: null, blocks: blocks.blocks };
};
