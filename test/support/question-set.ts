/** What share of questions finds its answer, over documents in several languages that were written for it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Block } from '../../src/knowledge/parsing/domain/parsed-document.js';

const FOLDER = join(import.meta.dirname, 'question-set');

export interface QualityDocument {
  readonly key: string;
  readonly language: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

export interface Question {
  readonly language: string;
  readonly text: string;
  /** Uses other words than the answer. */
  readonly isParaphrase: boolean;
  /** The document and the heading of the answer, as `answerOf` names them. */
  readonly answer: string;
}

export interface QualitySet {
  readonly documents: readonly QualityDocument[];
  readonly questions: readonly Question[];
}

/** Searches. @returns the results as `answerOf` names them, best first */
export type QuestionSearch = (question: string) => Promise<readonly string[]>;

export function answerOf(documentKey: string, heading: string | null): string {
  return `${documentKey}#${heading ?? ''}`;
}

/** Each file is a document whose sections are followed by their questions: `?`, or `~` for those in other words. */
export function readQualitySet(): QualitySet {
  const files = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.md'))
    .sort();
  const read = files.map((name) => readDocument(name, readFileSync(join(FOLDER, name), 'utf8').split('\n')));
  return { documents: read.map(({ document }) => document), questions: read.flatMap(({ questions }) => questions) };
}

function readDocument(
  key: string,
  lines: readonly string[],
): { readonly document: QualityDocument; readonly questions: readonly Question[] } {
  const blocks: Block[] = [];
  const questions: Question[] = [];
  const header = (name: string): string =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? '';
  const language = header('language');
  let heading: string | null = null;
  for (const line of lines) {
    const [mark, text] = [line.slice(0, 2), line.slice(2)];
    if (mark === '# ') {
      heading = text;
      blocks.push({ kind: 'heading', level: 1, text });
    } else if (mark === '? ' || mark === '~ ')
      questions.push({ language, text, isParaphrase: mark === '~ ', answer: answerOf(key, heading) });
    else if (heading !== null && line !== '') blocks.push({ kind: 'text', text: line });
  }
  return { document: { key, language, title: header('title'), blocks }, questions };
}

/** The share of the questions whose answer is among the first `count` results. */
export async function recallAt(count: number, questions: readonly Question[], search: QuestionSearch): Promise<number> {
  let found = 0;
  for (const { text, answer } of questions) if ((await search(text)).slice(0, count).includes(answer)) found += 1;
  return questions.length === 0 ? 1 : found / questions.length;
}

/** The questions whose answer is not among the first `count` results. */
export async function missedAt(
  count: number,
  questions: readonly Question[],
  search: QuestionSearch,
): Promise<Question[]> {
  const missed: Question[] = [];
  for (const question of questions)
    if (!(await search(question.text)).slice(0, count).includes(question.answer)) missed.push(question);
  return missed;
}
