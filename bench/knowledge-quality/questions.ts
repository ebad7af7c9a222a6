import { extractText } from 'unpdf';
import type { CorpusFile } from './corpus.ts';
import { mainContentOf } from './main-content.ts';
import type { PageRules } from './packages.ts';
import questions from './questions.json' with { type: 'json' };

export interface Question {
  readonly language: string;
  /** How it is asked: in the text's terms, in other words with one of them at least, or as a few words. */
  readonly kind: 'terms' | 'paraphrase' | 'keywords';
  readonly question: string;
  /** Where the passage was read. */
  readonly file: string;
  /** A chunk that answers holds all of one of them; the first was read in `file`, the others say the same elsewhere. */
  readonly passages: readonly (readonly string[])[];
}

export const QUESTIONS = questions as readonly Question[];

/** Letters and digits alone: spaces, marks and how a table is drawn are nothing. */
export function bare(text: string): string {
  return text.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '');
}

export function answers({ passages }: Pick<Question, 'passages'>, chunk: string): boolean {
  const text = bare(chunk);
  return passages.some((passage) => passage.every((part) => text.includes(bare(part))));
}

/** The text of a source without the service's readers, to look passages up in. */
export async function sourceText({ name, content }: CorpusFile, rules: PageRules | undefined): Promise<string> {
  if (name.endsWith('.pdf')) return (await extractText(new Uint8Array(content), { mergePages: true })).text;
  const text = content.toString('utf8');
  return name.endsWith('.html') && rules ? mainContentOf(text, rules).text : text;
}
