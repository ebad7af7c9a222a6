/** The word of `known`, which must not be empty, with the smallest edit distance (Levenshtein) to `word`; the first of equals. */
export function nearest(word: string, known: readonly string[]): string {
  const byDistance = known.map((candidate) => ({ candidate, distance: distanceOf(word, candidate) }));
  return byDistance.reduce((best, other) => (other.distance < best.distance ? other : best)).candidate;
}

function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of Array.from(from).entries()) {
    const before = row;
    row = [index + 1];
    for (let at = 1; at <= to.length; at += 1) {
      const replaced = (before[at - 1] ?? 0) + (to[at - 1] === character ? 0 : 1);
      row.push(Math.min((before[at] ?? 0) + 1, (row[at - 1] ?? 0) + 1, replaced));
    }
  }
  return row[to.length] ?? 0;
}
