import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { blocksOf, type PageBlock } from '../guide/page-blocks.js';

const FOLDER = 'docs/extending';
/** The examples of these two are compiled with the tests: `test/extending`. */
const COMPILED = new Set(['README.md', 'context.md', 'tool-source.md']);
/** The pages of docs/extending whose changes are made in a copy of the source. */
export const APPLIED_PAGES = readdirSync(FOLDER).filter((name) => !COMPILED.has(name));

export function readPage(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}

const SOURCE = /^(src|test)\//;

/**
 * Makes the changes of a page of docs/extending in a copy of the project: a block that names a file of the source shows the whole
 * new file or, as `diff`, lines to add and to remove.
 * @throws Error where the lines around a change are not in the file exactly once
 */
export function applyPage(page: string, folder: string): string[] {
  const blocks = blocksOf(page).filter(({ file }) => file !== undefined && SOURCE.test(file));
  for (const block of blocks) applyBlock(block, join(folder, block.file!));
  return [...new Set(blocks.map(({ file }) => file!))];
}

function applyBlock({ language, text, line }: PageBlock, path: string): void {
  if (language !== 'diff') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
    return;
  }
  let content = readFileSync(path, 'utf8');
  for (const hunk of text.split(/^@@\n/m)) {
    const [before, after] = [without('+', hunk), without('-', hunk)];
    const places = content.split(before).length - 1;
    if (places !== 1) throw new Error(`line ${line}: ${path} has the lines of a change ${places} times:\n${before}`);
    content = content.replace(before, () => after);
  }
  writeFileSync(path, content);
}

/** The lines of a change without those that begin with a sign, and without the signs of the others. */
function without(sign: string, hunk: string): string {
  const lines = hunk.split('\n').filter((line) => !line.startsWith(sign));
  return lines.map((line) => line.slice(1)).join('\n');
}
