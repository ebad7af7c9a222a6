import { detectLanguage, formsOf, isFunctionWord, stemsOf } from '../../platform/text/index.js';

/** The terms by which texts are compared and found: words without case and accents and their stems, or pairs of letters without spaces. */
export function termsOf(text: string): string[] {
  return [...withStems(formsOf(text))];
}

/** The terms of a query, without function words if it has any others. */
export function queryTermsOf(query: string): string[] {
  const forms = formsOf(query);
  const contentWords = new Set([...forms].filter((form) => !isFunctionWord(form)));
  return [...withStems(contentWords.size > 0 ? contentWords : forms)];
}

function withStems(forms: ReadonlySet<string>): Set<string> {
  const language = detectLanguage(forms);
  const languages = language === null ? [] : [language];
  return new Set([...forms, ...[...forms].flatMap((form) => stemsOf(form, languages))]);
}
