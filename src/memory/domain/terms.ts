import { detectLanguage, formsOf, isFunctionWord, stemsOf } from '../../platform/text/index.js';

/**
 * What a text is compared and found by: its words without case and accents, and what they are inflected from. Letters of
 * scripts without spaces count in pairs.
 */
export function termsOf(text: string): string[] {
  return [...withStems(formsOf(text))];
}

/** The same of what is searched for, without the words that hold sentences together where there are others. */
export function queryTermsOf(query: string): string[] {
  const forms = formsOf(query);
  const saying = new Set([...forms].filter((form) => !isFunctionWord(form)));
  return [...withStems(saying.size > 0 ? saying : forms)];
}

function withStems(forms: ReadonlySet<string>): Set<string> {
  const language = detectLanguage(forms);
  const languages = language === null ? [] : [language];
  return new Set([...forms, ...[...forms].flatMap((form) => stemsOf(form, languages))]);
}
