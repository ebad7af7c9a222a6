import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { builtInLanguage, directionOf, LANGUAGES, loadStrings } from './languages.js';
import { ENGLISH, type Strings } from './strings.js';

/** The texts that a language has in common with English. */
const SAME_AS_ENGLISH: Readonly<Record<string, readonly (keyof Strings)[]>> = {
  de: ['heading', 'code'],
  es: ['heading', 'no'],
  fr: ['heading', 'untitledConversation', 'conversation', 'agent', 'message', 'code'],
  it: ['heading', 'no'],
  nl: ['heading', 'code'],
  pt: ['heading'],
};

const written = readdirSync(new URL('../languages/', import.meta.url)).map((file) => file.replace(/\.ts$/, ''));
const languages = Object.entries(LANGUAGES).filter(([code]) => written.includes(code));

const placeholders = (text: string): string[] => text.match(/\{\w+\}/g)?.sort() ?? [];

describe('the built-in languages', () => {
  it('are those that have a file', () => {
    expect(Object.keys(LANGUAGES)).toEqual(expect.arrayContaining(written));
    expect(Object.keys(LANGUAGES)).toHaveLength(17);
  });

  it('are found by their own tags', () => {
    for (const code of Object.keys(LANGUAGES)) expect(builtInLanguage(code)).toBe(code);
  });

  describe.each(languages)('%s', (code, load) => {
    it('has the texts of the English one, in its order', async () => {
      expect(Object.keys((await load()).default)).toEqual(Object.keys(ENGLISH));
    });

    it('has the same placeholders in each text, and no other braces', async () => {
      const { default: strings } = await load();
      for (const [key, text] of entries(strings)) {
        expect([key, placeholders(text)]).toEqual([key, placeholders(ENGLISH[key])]);
        expect(text.replace(/\{\w+\}/g, '')).not.toMatch(/[{}]/);
      }
    });

    it('translates every text', async () => {
      const { default: strings } = await load();
      const same = entries(strings).filter(([key, text]) => text === ENGLISH[key]);
      expect(same.map(([key]) => key)).toEqual(SAME_AS_ENGLISH[code] ?? []);
    });

    it('has no empty text, no spaces around one, and no quotes or dots of a typewriter', async () => {
      for (const [, text] of entries((await load()).default)) {
        expect(text).not.toBe('');
        expect(text).toBe(text.trim());
        expect(text).not.toMatch(/["']|\.\.\./);
      }
    });
  });
});

describe('the language of a tag', () => {
  it.each([
    ['de', 'de'],
    ['de-AT', 'de'],
    ['DE-ch-1996', 'de'],
    ['fr-CA', 'fr'],
    ['pt-PT', 'pt'],
    ['pt-BR', 'pt'],
    ['iw', 'he'],
    ['he-IL-u-nu-hebr', 'he'],
    ['zh', 'zh-hans'],
    ['zh-CN', 'zh-hans'],
    ['zh-SG', 'zh-hans'],
    ['zh-Hans-HK', 'zh-hans'],
    ['zh-TW', 'zh-hant'],
    ['zh-hk', 'zh-hant'],
    ['zh-MO', 'zh-hant'],
    ['ZH-HANT-CN', 'zh-hant'],
  ])('%s is %s', (tag, code) => {
    expect(builtInLanguage(tag)).toBe(code);
  });

  it.each(['en', 'en-GB', 'nb', 'no', 'yue', 'valueof', '', 'd', 'de_AT', 'de-', 'de,fr', ' de', '*', '__proto__'])(
    'is none for "%s"',
    (tag) => {
      expect(builtInLanguage(tag)).toBeNull();
    },
  );
});

describe('loading', () => {
  it('gives the texts of the language, and a locale with the region of the page', async () => {
    expect(await loadStrings('DE-at')).toEqual({ strings: (await LANGUAGES.de()).default, locale: 'de-AT' });
  });

  it.each([
    ['en-GB', 'en-GB'],
    ['nb-NO', 'nb-NO'],
    ['tlh', 'en'],
    ['', 'en'],
    ['de_AT', 'en'],
    ['not a tag', 'en'],
  ])('gives English for "%s", with the locale %s', async (tag, locale) => {
    expect(await loadStrings(tag)).toEqual({ strings: ENGLISH, locale });
  });
});

describe('the direction of a tag', () => {
  it.each(['ar', 'AR-eg', 'he', 'iw', 'fa', 'ur', 'ps', 'ckb', 'dv', 'yi', 'pa-PK', 'az-Arab'])(
    'is right to left for %s',
    (tag) => {
      expect(directionOf(tag)).toBe('rtl');
    },
  );

  it.each(['en', 'de', 'ja', 'zh-TW', 'pa', 'ku', 'ar-Latn', 'xx', '', 'ar_EG'])('is left to right for "%s"', (tag) => {
    expect(directionOf(tag)).toBe('ltr');
  });
});

function entries(strings: Strings): [keyof Strings, string][] {
  return Object.keys(ENGLISH).flatMap((key) => (isKey(key) ? [[key, strings[key]]] : []));
}

function isKey(key: string): key is keyof Strings {
  return key in ENGLISH;
}
