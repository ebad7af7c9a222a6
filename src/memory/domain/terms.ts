import { detectLanguage, formsOf, isFunctionWord, stemmersOf } from '../../platform/text/index.js';

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
  const terms = new Set(forms);
  for (const form of forms) {
    for (const stem of stemmersOf(form, language === null ? [] : [language])) {
      const stemmed = stem(form);
      if (stemmed !== '') terms.add(stemmed);
    }
  }
  return terms;
}
