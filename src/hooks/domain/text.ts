/** Lengths in Unicode code points, the way the interface counts characters. */
export function isLongerThan(text: string, max: number): boolean {
  // A string has at most as many code points as code units, and at least half as many.
  if (text.length <= max) return false;
  return text.length > 2 * max || [...text].length > max;
}

/** The text, or its beginning where it is longer. */
export function cutTo(text: string, max: number): string {
  if (!isLongerThan(text, max)) return text;
  return [...text.slice(0, 2 * max)].slice(0, max).join('');
}

/** A time as it stands in a sentence. */
export function inSeconds(ms: number): string {
  return ms === 1_000 ? '1 second' : `${ms / 1_000} seconds`;
}
