import { fold, MAX_FORM_LENGTH, pairsOf, piecesOf, stemsOf, writesCompounds } from '../../../platform/text/index.js';
import type { Chunk } from './chunker.js';

/** A term in one chunk. */
export interface Occurrence {
  /** The term is in the title or in the headings. */
  isNamed: boolean;
  /** Its positions in the text, in words, ascending; the first `MAX_POSITIONS` of them. */
  readonly positions: number[];
}

/** The terms by which keyword search finds a chunk. */
export interface ChunkTerms {
  /** In words, at least 1. */
  readonly length: number;
  readonly terms: ReadonlyMap<string, Occurrence>;
  /** Stems of words that may end with another word, by which they are found too. */
  readonly compounds: ReadonlySet<string>;
}

const MAX_POSITIONS = 32;
/** Shorter words are hardly ever compounds of two. */
const MIN_COMPOUND = 8;
/** Stems of one document that are cached, because most words occur again. */
const MAX_STEMS = 20_000;

/** Analyzes texts of one language: words into stems, and scripts without spaces into pairs of letters. */
export class TermAnalyzer {
  private readonly stems = new Map<string, readonly string[]>();
  private readonly languages: readonly string[];
  private readonly hasCompounds: boolean;

  /** @param language null if it is unknown */
  constructor(language: string | null) {
    this.languages = language === null ? [] : [language];
    this.hasCompounds = writesCompounds(language);
  }

  termsOf(title: string, { heading, text }: Pick<Chunk, 'heading' | 'text'>): ChunkTerms {
    const terms = new Map<string, Occurrence>();
    const compounds = new Set<string>();
    const occurrenceOf = (term: string): Occurrence => {
      const known = terms.get(term);
      if (known) return known;
      const occurrence = { isNamed: false, positions: [] };
      terms.set(term, occurrence);
      return occurrence;
    };
    let length = 0;
    for (const { term } of this.termsIn(heading === null ? title : `${title}\n${heading}`, compounds)) {
      occurrenceOf(term).isNamed = true;
      length += 1;
    }
    for (const { term, position } of this.termsIn(text, compounds)) {
      const { positions } = occurrenceOf(term);
      if (positions.length < MAX_POSITIONS) positions.push(position);
      length += 1;
    }
    return { length: Math.max(1, length), terms, compounds };
  }

  private *termsIn(
    text: string,
    compounds: Set<string>,
  ): Generator<{ readonly term: string; readonly position: number }> {
    let position = -1;
    let lastAt = -1;
    for (const { text: piece, at, unspaced } of piecesOf(fold(text))) {
      // A name of several parts has the position of its first part.
      if (at !== lastAt) position += 1;
      lastAt = at;
      if (!unspaced) {
        if (piece.length > MAX_FORM_LENGTH) continue;
        const stems = this.stemsOf(piece);
        if (this.hasCompounds && piece.length >= MIN_COMPOUND && /^\p{L}+$/u.test(piece))
          for (const stem of stems) compounds.add(stem);
        yield { term: stems[0] ?? piece, position };
        continue;
      }
      const letters = unspacedTermsOf(piece);
      for (const [index, term] of letters.entries()) yield { term, position: position + index };
      position += letters.length - 1;
    }
  }

  private stemsOf(form: string): readonly string[] {
    const known = this.stems.get(form);
    if (known) return known;
    const stems = stemsOf(form, this.languages);
    if (this.stems.size >= MAX_STEMS) this.stems.clear();
    this.stems.set(form, stems);
    return stems;
  }
}

/** The pairs of letters of a text, and its last letter: each letter is then the first of a term. */
function unspacedTermsOf(text: string): string[] {
  const pairs = pairsOf(text).map(({ form }) => form);
  const last = /\P{M}\p{M}*$/u.exec(text)?.[0] ?? text;
  return pairs.at(-1) === last ? pairs : [...pairs, last];
}
