import { ENGLISH, type Strings } from './strings.js';

/** The texts beside the English ones. Each language is a file of its own, which only the pages in that language load. */
export const LANGUAGES = {
  ar: () => import('../languages/ar.js'),
  de: () => import('../languages/de.js'),
  es: () => import('../languages/es.js'),
  fr: () => import('../languages/fr.js'),
  he: () => import('../languages/he.js'),
  hi: () => import('../languages/hi.js'),
  it: () => import('../languages/it.js'),
  ja: () => import('../languages/ja.js'),
  ko: () => import('../languages/ko.js'),
  nl: () => import('../languages/nl.js'),
  pl: () => import('../languages/pl.js'),
  pt: () => import('../languages/pt.js'),
  ru: () => import('../languages/ru.js'),
  tr: () => import('../languages/tr.js'),
  uk: () => import('../languages/uk.js'),
  'zh-hans': () => import('../languages/zh-hans.js'),
  'zh-hant': () => import('../languages/zh-hant.js'),
} as const satisfies Readonly<Record<string, () => Promise<{ readonly default: Strings }>>>;

export type Language = keyof typeof LANGUAGES;

/** The scripts of ISO 15924 that are written from right to left and are in use. */
const RIGHT_TO_LEFT = new Set(['Adlm', 'Arab', 'Aran', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa']);

/** The `lang` of the element or of its closest ancestor that has one, else `en`. It is as the page wrote it, valid or not. */
export function languageOf(element: Element): string {
  const own = element.closest('[lang]:not([lang=""])')?.getAttribute('lang');
  if (own) return own;
  const root = element.getRootNode();
  if (root instanceof ShadowRoot) return languageOf(root.host);
  // An element that is not in its document yet has no ancestor with the document's language.
  return element.ownerDocument.documentElement.lang || 'en';
}

/**
 * The built-in language for a BCP 47 tag, by its language and, for Chinese, its script.
 * @returns null for English, for another language, and for an invalid tag
 */
export function builtInLanguage(tag: string): Language | null {
  const locale = likelyLocale(tag);
  if (!locale) return null;
  const { language, script } = locale;
  const code = language === 'zh' ? `zh-${script === 'Hant' ? 'hant' : 'hans'}` : language;
  return isBuiltIn(code) ? code : null;
}

/**
 * Never rejects: the texts are English where a language is not built in, or where its file cannot be loaded because the page
 * has been open since before an upgrade of the service.
 * @returns `locale` is for `Intl`: the tag in its canonical form if `Intl` knows its language, else `en`
 */
export async function loadStrings(tag: string): Promise<{ readonly strings: Strings; readonly locale: string }> {
  const language = builtInLanguage(tag);
  const locale = knownLocale(tag);
  if (!language) return { strings: ENGLISH, locale };
  try {
    return { strings: (await LANGUAGES[language]()).default, locale };
  } catch {
    return { strings: ENGLISH, locale };
  }
}

/** The direction of a BCP 47 tag, for a page that gives no `dir`; `ltr` for an invalid tag. */
export function directionOf(tag: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(likelyLocale(tag)?.script ?? '') ? 'rtl' : 'ltr';
}

function isBuiltIn(code: string): code is Language {
  return Object.hasOwn(LANGUAGES, code);
}

/** With the script that is usual for the tag's language and region; null for an invalid tag. */
function likelyLocale(tag: string): Intl.Locale | null {
  try {
    return new Intl.Locale(tag).maximize();
  } catch {
    return null;
  }
}

function knownLocale(tag: string): string {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag)[0] ?? 'en';
  } catch {
    return 'en';
  }
}
