/** A fenced block of a page. */
export interface PageBlock {
  readonly language: string;
  /** The file that a block shows (```js file=guard.mjs); the test writes it before it runs the block after it. */
  readonly file: string | undefined;
  readonly text: string;
  /** Of its first line in the page, from 1. */
  readonly line: number;
}

/** Commands that a test runs as they are, and the answers that the page shows for them. */
export interface PageStep {
  readonly commands: PageBlock;
  readonly answers: readonly PageBlock[];
  /** Files that the page shows between the step before this one and this one. */
  readonly files: readonly PageBlock[];
}

const FENCE = /^```(\w+)(?: file=(\S+))?\n(.*?)^```$/gms;

export function blocksOf(page: string): PageBlock[] {
  return [...page.matchAll(FENCE)].map(({ 1: language = '', 2: file, 3: text = '', index }) => ({
    language,
    file,
    text,
    line: page.slice(0, index).split('\n').length + 1,
  }));
}

/** `sh` blocks in their order, each with the `json` and `text` blocks that follow it. */
export function stepsOf(page: string): PageStep[] {
  const steps: { commands: PageBlock; answers: PageBlock[]; files: PageBlock[] }[] = [];
  let files: PageBlock[] = [];
  for (const block of blocksOf(page)) {
    // A block with a path belongs to the source; `applyPage` follows it.
    if (block.file?.includes('/')) continue;
    if (block.file !== undefined) files.push(block);
    else if (block.language === 'sh') {
      steps.push({ commands: block, answers: [], files });
      files = [];
    } else if (block.language === 'json' || block.language === 'text') steps.at(-1)?.answers.push(block);
  }
  return steps;
}
