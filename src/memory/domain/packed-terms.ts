import { COMPARED_TERMS } from '../limits.js';

/**
 * The terms of a text as one sorted row of 32-bit digests: what hundreds of memories are compared by, of which each may have
 * thousands of terms. Two terms rarely share a digest, and then a memory is found once too often.
 */
export type PackedTerms = Uint32Array;

export function packTerms(terms: Iterable<string>): PackedTerms {
  const digests = new Set<number>();
  for (const term of terms) digests.add(digestOf(term));
  return Uint32Array.from(digests).sort();
}

/** As they are stored. */
export function toBytes(terms: PackedTerms): Uint8Array {
  return new Uint8Array(terms.buffer, terms.byteOffset, terms.byteLength);
}

export function fromBytes(bytes: Uint8Array): PackedTerms {
  // A copy: a row of the database begins anywhere in the buffer that it came in.
  return new Uint32Array(new Uint8Array(bytes).buffer);
}

/** How many terms both have. */
export function commonTerms(left: PackedTerms, right: PackedTerms): number {
  return walk(left, right, Number.POSITIVE_INFINITY).common;
}

/**
 * About which share of all terms of both both have, told by the smallest digests of each alone: exact where there are no
 * more than `COMPARED_TERMS`, and else as exact as a sample of so many.
 */
export function estimatedShare(left: PackedTerms, right: PackedTerms): number {
  const { common, seen } = walk(left, right, COMPARED_TERMS);
  return seen === 0 ? 0 : common / seen;
}

/** The places in `wanted` of the terms that `terms` has. */
export function placesFound(terms: PackedTerms, wanted: PackedTerms): number[] {
  const places: number[] = [];
  let at = 0;
  for (const [place, digest] of wanted.entries()) {
    while ((terms[at] ?? Number.POSITIVE_INFINITY) < digest) at += 1;
    if (terms[at] === digest) places.push(place);
  }
  return places;
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

/** FNV-1a: quick, and nobody gains anything by two words of their own that share a digest. */
function digestOf(term: string): number {
  let digest = 0x811c9dc5;
  for (let index = 0; index < term.length; index += 1) digest = Math.imul(digest ^ term.charCodeAt(index), 0x01000193);
  return digest >>> 0;
}
