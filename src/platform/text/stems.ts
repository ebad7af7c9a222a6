import { stemmer as ar } from '@orama/stemmers/arabic';
import { stemmer as hy } from '@orama/stemmers/armenian';
import { stemmer as bg } from '@orama/stemmers/bulgarian';
import { stemmer as da } from '@orama/stemmers/danish';
import { stemmer as nl } from '@orama/stemmers/dutch';
import { stemmer as en } from '@orama/stemmers/english';
import { stemmer as fi } from '@orama/stemmers/finnish';
import { stemmer as fr } from '@orama/stemmers/french';
import { stemmer as de } from '@orama/stemmers/german';
import { stemmer as el } from '@orama/stemmers/greek';
import { stemmer as hu } from '@orama/stemmers/hungarian';
import { stemmer as hi } from '@orama/stemmers/indian';
import { stemmer as id } from '@orama/stemmers/indonesian';
import { stemmer as ga } from '@orama/stemmers/irish';
import { stemmer as it } from '@orama/stemmers/italian';
import { stemmer as lt } from '@orama/stemmers/lithuanian';
import { stemmer as ne } from '@orama/stemmers/nepali';
import { stemmer as no } from '@orama/stemmers/norwegian';
import { stemmer as pt } from '@orama/stemmers/portuguese';
import { stemmer as ro } from '@orama/stemmers/romanian';
import { stemmer as ru } from '@orama/stemmers/russian';
import { stemmer as sr } from '@orama/stemmers/serbian';
import { stemmer as es } from '@orama/stemmers/spanish';
import { stemmer as sv } from '@orama/stemmers/swedish';
import { stemmer as ta } from '@orama/stemmers/tamil';
import { stemmer as tr } from '@orama/stemmers/turkish';
import { stemmer as uk } from '@orama/stemmers/ukrainian';

type Stemmer = (word: string) => string;

type Script = 'latin' | 'cyrillic' | 'greek' | 'arabic' | 'armenian' | 'devanagari' | 'tamil';

const SCRIPTS: readonly (readonly [Script, RegExp])[] = [
  ['latin', /\p{Script=Latin}/u],
  ['cyrillic', /\p{Script=Cyrillic}/u],
  ['greek', /\p{Script=Greek}/u],
  ['arabic', /\p{Script=Arabic}/u],
  ['armenian', /\p{Script=Armenian}/u],
  ['devanagari', /\p{Script=Devanagari}/u],
  ['tamil', /\p{Script=Tamil}/u],
];

const STEMMERS: Readonly<Record<Script, Readonly<Record<string, Stemmer>>>> = {
  latin: { en, de, fr, es, it, pt, nl, sv, da, no, nb: no, nn: no, fi, hu, ro, tr, id, ga, lt },
  cyrillic: { ru, uk, bg, sr },
  greek: { el },
  arabic: { ar },
  armenian: { hy },
  devanagari: { hi, ne },
  tamil: { ta },
};
/** The language of a script's words besides the languages of the documents. */
const USUAL: Readonly<Record<Script, string>> = {
  latin: 'en',
  cyrillic: 'ru',
  greek: 'el',
  arabic: 'ar',
  armenian: 'hy',
  devanagari: 'hi',
  tamil: 'ta',
};

/** Numbers, codes and names of several parts are not inflected. */
const INFLECTED = /^[\p{L}\p{M}]+$/u;

/**
 * The possible stems of a folded word, at least one. The first is that of the first of these languages with the word's script. A
 * language other than the word's yields a stem that no text has, or the word itself.
 */
export function stemsOf(form: string, languages: readonly string[]): string[] {
  const script = INFLECTED.test(form) ? SCRIPTS.find(([, letters]) => letters.test(form))?.[0] : undefined;
  if (!script) return [form];
  const stemmers = STEMMERS[script];
  const names = new Set([...languages.filter((language) => language in stemmers), USUAL[script]]);
  return [
    ...new Set([...names].map((name) => stemmers[name]?.(form) ?? '').map((stem) => (stem === '' ? form : stem))),
  ];
}

/** Languages that write compounds as one word. */
const COMPOUNDING = new Set(['de', 'nl', 'sv', 'da', 'no', 'fi', 'hu']);

export function writesCompounds(language: string | null): boolean {
  return language !== null && COMPOUNDING.has(language);
}
