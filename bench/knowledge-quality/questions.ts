import { extractText } from 'unpdf';
import type { CorpusFile } from './corpus.ts';
import { mainContentOf } from './main-content.ts';
import type { PageRules } from './packages.ts';
import questions from './questions.json' with { type: 'json' };

export interface Question {
  readonly language: string;
  /** How it is asked: with the words of the text, with other words and at least one of the text, or as keywords. */
  readonly kind: 'terms' | 'paraphrase' | 'keywords';
  readonly question: string;
  /** The source of the passage. */
  readonly file: string;
  /** A chunk with one whole passage answers the question. The first is from `file`, the others say the same elsewhere. */
  readonly passages: readonly (readonly string[])[];
}

export const QUESTIONS = questions as readonly Question[];

/** Only letters and digits, without spaces, punctuation and table lines. */
export function bare(text: string): string {
  return text.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '');
}

export function answers({ passages }: Pick<Question, 'passages'>, chunk: string): boolean {
  const text = bare(chunk);
  return passages.some((passage) => passage.every((part) => text.includes(bare(part))));
}

/** The text of a source, read without the service's readers, to search for passages. */
export async function sourceText({ name, content }: CorpusFile, rules: PageRules | undefined): Promise<string> {
  if (name.endsWith('.pdf')) return (await extractText(new Uint8Array(content), { mergePages: true })).text;
  const text = content.toString('utf8');
  return name.endsWith('.html') && rules ? mainContentOf(text, rules).text : text;
}
