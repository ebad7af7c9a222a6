import type { TimeSlice } from '../../../../platform/clock/index.js';
import { endingsOf, type Stemmer, stemmersOf } from '../../../../platform/text/index.js';
import { typingErrors } from '../../domain/keyword-distance.js';
import type { Term, TermRange } from './keyword-terms.js';
import { lexemesOfWord, type QueryWord, variantsOf } from './keyword-words.js';

/** Something in a chunk that answers a word of the query. */
export interface Alternative {
  /** All of them are in the chunk. */
  readonly lexemes: readonly string[];
  /** How well it answers, above 0, at most 1. */
  readonly weight: number;
  /** For scripts without spaces: what stands in the text. */
  readonly text: string | null;
}

/** From this on an alternative is the word itself, in another form. */
export const STRONG = 0.8;
const WEIGHT = { exact: 1, stem: 0.9, halves: 0.8, head: 0.7, inflectedHead: 0.63, typo: [1, 0.75, 0.6], half: 0.4, pair: 0.35 } as const;
const MAX_ALTERNATIVES = 24;
const MAX_LENGTH = 64;
const FORMS_LIMIT = 300;
const COMPOUNDS_LIMIT = 60;
const TYPOS_LIMIT = 1_000;
const MIN_PREFIX = 3;
const MIN_HALF = 4;
const MIN_COMPOUND = 2 * MIN_HALF;
const MIN_TYPO = 4;
/** Letters that a mistyped word may have in the text beyond those that were typed. */
const MAX_ENDING = 3;
/** Letters between the halves of a compound. */
const LINKS = ['', 's', 'es', 'n', 'en', 'e', 'er'];

/** Finds what may be meant by one word of a query, in two looks at the vocabulary: the second depends on what the first one found. */
export class WordLookup {
  private readonly stemmers: readonly Stemmer[];
  /** The word, and as it is spelled otherwise. */
  private readonly spelled: readonly { readonly text: string; readonly stems: readonly string[] }[];
  private readonly forms = new Map<string, boolean>();
  /** Of terms, by each of the stemmers. */
  private readonly stems = new Map<string, readonly string[]>();
  /** Forms in which it may end a compound although no text has them alone. */
  private readonly heads: readonly string[];

  constructor(
    readonly word: QueryWord,
    languages: readonly string[],
  ) {
    this.stemmers = word.unspaced ? [] : stemmersOf(word.text, languages);
    const texts = [word.text, ...variantsOf(word).map((variant) => variant.text)];
    this.spelled = texts.map((text) => ({ text, stems: this.stemmers.map((stem) => stem(text)) }));
    const inflected = word.unspaced || word.text.length < MIN_HALF ? [] : endingsOf(languages).map((ending) => word.text + ending);
    this.heads = inflected.filter((form) => this.isForm(form));
  }

  exactTerms(): string[] {
    const { text, unspaced } = this.word;
    const halves = unspaced ? [] : halvesOf(text).flat();
    return [...this.spelled.flatMap((one) => lexemesOfWord(one.text, unspaced)), ...halves];
  }

  /** Where its inflected forms stand, and words that it begins. */
  formRanges(): TermRange[] {
    const { text: word, unspaced, isWhole } = this.word;
    if (unspaced) return word.length === 1 ? [{ letters: word, minLength: 2, maxLength: 2, limit: COMPOUNDS_LIMIT }] : [];
    if (isWhole || /^\p{N}+$/u.test(word)) return [];
    return this.spelled.map(({ text, stems }) => {
      const common = Math.min(...stems.map((stem) => commonLength(stem, text)), text.length);
      return { letters: text.slice(0, Math.max(MIN_PREFIX, common - 1)), minLength: 1, maxLength: MAX_LENGTH, limit: FORMS_LIMIT };
    });
  }

  /** Compounds that end with it, or what it may be a misspelling of. */
  secondRanges(known: ReadonlyMap<string, Term>): { readonly beginning: TermRange[]; readonly ending: TermRange[] } {
    const { text, unspaced, isWhole } = this.word;
    if (unspaced) return { beginning: [], ending: text.length === 1 ? [{ letters: text, minLength: 2, maxLength: 2, limit: COMPOUNDS_LIMIT }] : [] };
    if (isWhole || /\p{N}/u.test(text) || text.length < MIN_TYPO) return { beginning: [], ending: [] };
    const forms = new Set([...[text, ...this.formsAmong(known)].filter((form) => form.length >= MIN_HALF).slice(0, 4), ...this.heads]);
    const heads = [...forms].map((letters) => ({ letters, minLength: letters.length + 3, maxLength: MAX_LENGTH, limit: COMPOUNDS_LIMIT }));
    if (this.isKnown(known)) return { beginning: [], ending: heads };
    const max = maxErrors(text);
    const length = { minLength: text.length - max, maxLength: text.length + max + MAX_ENDING, limit: TYPOS_LIMIT };
    const letters = text.length < 6 ? 2 : 3;
    return { beginning: [{ letters: text.slice(0, letters), ...length }], ending: [...heads, { letters: text.slice(-letters), ...length }] };
  }

  async alternatives(known: ReadonlyMap<string, Term>, slice: TimeSlice): Promise<Alternative[]> {
    const found = this.word.unspaced ? this.unspacedAlternatives(known) : await this.spacedAlternatives(known, slice);
    const best = found.toSorted((left, right) => right.weight - left.weight || left.lexemes.join().length - right.lexemes.join().length || (left.lexemes.join() < right.lexemes.join() ? -1 : 1));
    return best.slice(0, MAX_ALTERNATIVES);
  }

  private isKnown(known: ReadonlyMap<string, Term>): boolean {
    return known.has(this.word.text) || variantsOf(this.word).some(({ text }) => known.has(text)) || this.formsAmong(known).length > 0;
  }

  private formsAmong(known: ReadonlyMap<string, Term>): string[] {
    return [...known.keys()].filter((term) => this.isForm(term)).sort((left, right) => left.length - right.length || (left < right ? -1 : 1));
  }

  private isForm(term: string): boolean {
    const known = this.forms.get(term);
    if (known !== undefined) return known;
    const near = this.spelled.filter(({ text }) => term !== text && term.slice(0, 2) === text.slice(0, 2) && Math.abs(term.length - text.length) <= 8);
    const isForm = near.length > 0 && this.stemsOf(term).some((stem, index) => near.some(({ stems }) => stems[index] === stem));
    this.forms.set(term, isForm);
    return isForm;
  }

  private async spacedAlternatives(known: ReadonlyMap<string, Term>, slice: TimeSlice): Promise<Alternative[]> {
    const { text, isWhole } = this.word;
    const weights = new Map<string, number>();
    const add = (term: string, weight: number): void => {
      if (known.has(term)) weights.set(term, Math.max(weight, weights.get(term) ?? 0));
    };
    add(text, WEIGHT.exact);
    for (const variant of variantsOf(this.word)) add(variant.text, variant.weight);
    const alternatives = (): Alternative[] => [...weights].map(([term, weight]) => ({ lexemes: [term], weight, text: null }));
    if (isWhole) return alternatives();
    for (const form of this.formsAmong(known)) add(form, WEIGHT.stem);
    const isKnown = weights.size > 0;
    for (const term of known.keys()) {
      if (term.length <= text.length) continue;
      if (term.startsWith(text)) this.addBeginning(term, isKnown, add);
      else if (text.length >= MIN_HALF && term.endsWith(text)) add(term, WEIGHT.head);
      else if (term.length > text.length + MAX_ENDING && this.heads.some((head) => term.endsWith(head))) add(term, WEIGHT.inflectedHead);
    }
    if (!isKnown) await this.addTypos(known, add, slice);
    return [...alternatives(), ...this.compoundAlternatives(known, isKnown)];
  }

  private addBeginning(term: string, isKnown: boolean, add: (term: string, weight: number) => void): void {
    const share = this.word.text.length / term.length;
    if (!isKnown && this.word.text.length >= MIN_PREFIX) add(term, 0.45 + 0.4 * share);
    // A short word that is known begins many others that have nothing to do with it.
    else if (this.word.text.length > MIN_HALF) add(term, 0.3 + 0.3 * share);
  }

  private async addTypos(known: ReadonlyMap<string, Term>, add: (term: string, weight: number) => void, slice: TimeSlice): Promise<void> {
    const { text } = this.word;
    if (text.length < MIN_TYPO || /\p{N}/u.test(text)) return;
    const max = maxErrors(text);
    for (const term of known.keys()) {
      await slice.rest();
      if (/\p{N}/u.test(term)) continue;
      const errors = typingErrors(text, term, max);
      if (errors <= max) add(term, WEIGHT.typo[errors] ?? WEIGHT.half);
      else {
        const inflected = this.errorsInStem(term, max);
        if (inflected <= max) add(term, (WEIGHT.typo[inflected] ?? WEIGHT.half) * WEIGHT.stem);
      }
    }
  }

  /** Of another form of the word, which has more letters than mistakes are allowed. */
  private errorsInStem(term: string, max: number): number {
    const { text } = this.word;
    // Stemmers are asked only about what could be it.
    if (term.length <= text.length || typingErrors(text, term, max + MAX_ENDING) > max + MAX_ENDING) return max + 1;
    // Most languages agree about most words.
    const pairs = new Map(this.stemsOf(term).map((stem, index) => [stem, this.spelled[0]?.stems[index] ?? text] as const).map((pair) => [pair.join(' '), pair]));
    return Math.min(max + 1, ...Array.from(pairs.values(), ([stem, own]) => typingErrors(own, stem, max)));
  }

  private stemsOf(term: string): readonly string[] {
    const known = this.stems.get(term);
    if (known) return known;
    const stems = this.stemmers.map((stem) => stem(term));
    this.stems.set(term, stems);
    return stems;
  }

  private compoundAlternatives(known: ReadonlyMap<string, Term>, isKnown: boolean): Alternative[] {
    const { text } = this.word;
    const both = halvesOf(text).filter(([first, second]) => known.has(first) && known.has(second));
    const one = isKnown || both.length > 0 ? both.flat() : halvesOf(text).flat().filter((half) => half.length > MIN_HALF && known.has(half));
    return [
      ...both.map((lexemes) => ({ lexemes, weight: WEIGHT.halves, text: null })),
      ...[...new Set(one)].map((half) => ({ lexemes: [half], weight: (WEIGHT.half * (text.length + half.length)) / (2 * text.length), text: null })),
    ];
  }

  private unspacedAlternatives(known: ReadonlyMap<string, Term>): Alternative[] {
    const whole = (text: string, weight: number): Alternative => ({ lexemes: lexemesOfWord(text, true), weight, text });
    const { text } = this.word;
    const spelled = [whole(text, WEIGHT.exact), ...variantsOf(this.word).map((variant) => whole(variant.text, variant.weight))];
    const around = text.length > 1 ? [] : [...known.keys()].filter((term) => term.includes(text)).map((term) => whole(term, WEIGHT.exact));
    const pairs = spelled.flatMap(({ lexemes }) => (lexemes.length > 1 ? lexemes : [])).map((pair) => whole(pair, WEIGHT.pair));
    const unique = new Map([...pairs, ...around, ...spelled].map((alternative) => [alternative.text, alternative]));
    return [...unique.values()].filter(({ lexemes }) => lexemes.every((lexeme) => known.has(lexeme)));
  }
}

function maxErrors(text: string): number {
  return text.length >= 8 ? 2 : 1;
}

function commonLength(left: string, right: string): number {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length += 1;
  return length;
}

/** All ways to take a word for a compound of two. */
function halvesOf(text: string): [string, string][] {
  if (text.length < MIN_COMPOUND || /[^\p{L}\p{M}]/u.test(text)) return [];
  const halves: [string, string][] = [];
  for (let end = MIN_HALF; end <= text.length - MIN_HALF; end += 1) {
    for (const link of LINKS) {
      const second = text.slice(end + link.length);
      if (second.length >= MIN_HALF && text.startsWith(link, end)) halves.push([text.slice(0, end), second]);
    }
  }
  return halves;
}
