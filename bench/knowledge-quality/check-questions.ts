/** Checks that every passage is in its source: `node bench/knowledge-quality/check-questions.ts [--corpus <folder>]`. */
import { parseArgs } from 'node:util';
import { CORPUS_FOLDER, fetchCorpus, filesOf, markdownFiles } from './corpus.ts';
import { PACKAGES } from './packages.ts';
import { bare, QUESTIONS, sourceText } from './questions.ts';

const { values: options } = parseArgs({ options: { corpus: { type: 'string', default: CORPUS_FOLDER } } });
fetchCorpus(options.corpus, (line) => process.stderr.write(`${line}\n`));
const files = [
  ...PACKAGES.flatMap((source) => filesOf(source, options.corpus).map((file) => ({ file, rules: source.rules }))),
  ...markdownFiles().map((file) => ({ file, rules: undefined })),
];
const texts = new Map<string, string>();
for (const { file, rules } of files) texts.set(file.key, bare(await sourceText(file, rules)));
const lost = QUESTIONS.flatMap(({ file, question, passages }) =>
  passages
    .filter(
      (passage, index) =>
        ![...(index === 0 ? [texts.get(file) ?? ''] : texts.values())].some((text) =>
          passage.every((part) => text.includes(bare(part))),
        ),
    )
    .map((passage) => `${file} does not hold "${passage.join('" and "')}" for: ${question}\n`),
);
process.stdout.write(
  `${lost.join('')}${QUESTIONS.length} questions, ${lost.length} passages are not in their sources (${files.length} files)\n`,
);
if (lost.length > 0) process.exitCode = 1;
