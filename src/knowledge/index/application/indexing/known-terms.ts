import { KNOWN_TERMS, KNOWN_VOCABULARIES } from '../../limits.js';
import type { Vocabulary } from '../../persistence/vocabulary.js';

interface Known {
  readonly generation: number;
  readonly terms: Set<string>;
}

/**
 * Words that are in vocabularies already, so that most words of a document need not be looked for. Right while the
 * vocabulary is locked: a process that removes words changes its generation, under the same lock.
 */
export class KnownTerms {
  private readonly vocabularies = new Map<number, Known>();

  unknown({ number, generation }: Vocabulary, terms: ReadonlySet<string>): string[] {
    const known = this.vocabularies.get(number);
    return known?.generation === generation ? [...terms].filter((term) => !known.terms.has(term)) : [...terms];
  }

  /** Once the transaction has committed that inserted them. */
  add({ number, generation }: Vocabulary, terms: Iterable<string>): void {
    const before = this.vocabularies.get(number);
    if (before && before.generation > generation) return;
    const known = before?.generation === generation ? before : { generation, terms: new Set<string>() };
    this.vocabularies.delete(number);
    this.vocabularies.set(number, known);
    const [oldest] = this.vocabularies.keys();
    if (oldest !== undefined && this.vocabularies.size > KNOWN_VOCABULARIES) this.vocabularies.delete(oldest);
    // The words that come first are those that are everywhere.
    for (const term of terms) if (known.terms.size < KNOWN_TERMS) known.terms.add(term);
  }
}
