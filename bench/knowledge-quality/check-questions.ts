/** Looks every passage up in the source that it was read in: `node bench/knowledge-quality/check-questions.ts [--corpus <folder>]`. */
import { parseArgs } from 'node:util';
import { CORPUS_FOLDER, fetchCorpus, filesOf, markdownFiles } from './corpus.ts';
import { PACKAGES } from './packages.ts';
import { answers, QUESTIONS, sourceText } from './questions.ts';

const { values: options } = parseArgs({ options: { corpus: { type: 'string', default: CORPUS_FOLDER } } });
fetchCorpus(options.corpus, (line) => process.stderr.write(`${line}\n`));
const files = [...PACKAGES.flatMap((source) => filesOf(source, options.corpus).map((file) => ({ file, rules: source.rules }))), ...markdownFiles().map((file) => ({ file, rules: undefined }))];
const texts = new Map<string, string>();
for (const { file, rules } of files) if (QUESTIONS.some((question) => question.file === file.key)) texts.set(file.key, await sourceText(file, rules));
const lost = QUESTIONS.filter((question) => !answers(question, texts.get(question.file) ?? ''));
for (const { file, question, passage } of lost) process.stdout.write(`${file} does not hold "${passage.join('" and "')}" for: ${question}\n`);
process.stdout.write(`${QUESTIONS.length - lost.length} of ${QUESTIONS.length} passages stand in their sources (${files.length} files)\n`);
if (lost.length > 0) process.exitCode = 1;
