import { COMPARED_TERMS } from '../limits.js';

/**
 * The terms of a text as sorted 32-bit digests, because a search compares hundreds of memories with up to thousands of terms each.
 * Two terms rarely share a digest; a search may then return one memory too many.
 */
export type PackedTerms = Uint32Array;

export function packTerms(terms: Iterable<string>): PackedTerms {
  const digests = new Set<number>();
  for (const term of terms) digests.add(digestOf(term));
  return Uint32Array.from(digests).sort();
}

/** The stored form. */
export function toBytes(terms: PackedTerms): Uint8Array {
  return new Uint8Array(terms.buffer, terms.byteOffset, terms.byteLength);
}

export function fromBytes(bytes: Uint8Array): PackedTerms {
  // A copy, because the driver's buffer may not be aligned to four bytes.
  return new Uint32Array(new Uint8Array(bytes).buffer);
}

/** The number of terms that both have. */
export function commonTerms(left: PackedTerms, right: PackedTerms): number {
  return walk(left, right, Number.POSITIVE_INFINITY).common;
}

/**
 * Estimates the share of common terms among all terms of both, from the smallest digests alone. It is exact for up to
 * `COMPARED_TERMS` terms, and beyond them as exact as a sample of that size.
 */
export function estimatedShare(left: PackedTerms, right: PackedTerms): number {
  const { common, seen } = walk(left, right, COMPARED_TERMS);
  return seen === 0 ? 0 : common / seen;
}

/** The positions in `wanted` of the terms that `terms` has too. */
export function positionsFound(terms: PackedTerms, wanted: PackedTerms): number[] {
  const positions: number[] = [];
  let at = 0;
  for (const [position, digest] of wanted.entries()) {
    while ((terms[at] ?? Number.POSITIVE_INFINITY) < digest) at += 1;
    if (terms[at] === digest) positions.push(position);
  }
  return positions;
}

function walk(left: PackedTerms, right: PackedTerms, most: number): { common: number; seen: number } {
  let [at, other, common, seen] = [0, 0, 0, 0];
  while (seen < most && (at < left.length || other < right.length)) {
    const [one, two] = [left[at] ?? Number.POSITIVE_INFINITY, right[other] ?? Number.POSITIVE_INFINITY];
    if (one === two) common += 1;
    if (one <= two) at += 1;
    if (two <= one) other += 1;
    seen += 1;
  }
  return { common, seen };
}

/** FNV-1a: fast, and users gain nothing by words that collide on purpose. */
function digestOf(term: string): number {
  let digest = 0x811c9dc5;
  for (let index = 0; index < term.length; index += 1) digest = Math.imul(digest ^ term.charCodeAt(index), 0x01000193);
  return digest >>> 0;
}
