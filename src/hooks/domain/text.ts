/** Lengths in Unicode code points, the way the interface counts characters. */
export function isLongerThan(text: string, max: number): boolean {
  // A string has at most as many code points as code units, and at least half as many.
  if (text.length <= max) return false;
  return text.length > 2 * max || [...text].length > max;
}

/** The text, cut when it is longer. */
export function cutTo(text: string, max: number): string {
  if (!isLongerThan(text, max)) return text;
  return [...text.slice(0, 2 * max)].slice(0, max).join('');
}

/** A duration for a sentence. */
export function inSeconds(ms: number): string {
  return ms === 1_000 ? '1 second' : `${ms / 1_000} seconds`;
}

/** Splits the text into at least one piece of at most `max` code units, never within a character. */
export function piecesOf(text: string, max: number): string[] {
  const pieces: string[] = [];
  let from = 0;
  do {
    const to = from + max;
    const isWithin = to < text.length && text.charCodeAt(to) >> 10 === LOW_SURROGATES;
    pieces.push(text.slice(from, isWithin ? to - 1 : to));
    from = isWithin ? to - 1 : to;
  } while (from < text.length);
  return pieces;
}

/** The upper bits of the second half of a character of two code units. */
const LOW_SURROGATES = 0xdc00 >> 10;
