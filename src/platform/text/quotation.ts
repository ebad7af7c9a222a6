/** The brackets of marks. In quoted text they are replaced with square ones. */
const [OPEN, CLOSE] = ['⟦', '⟧'];

/** Controls except tab and line break, direction overrides, and characters that are invisible to people but not to models (tags, word joiners, variation selectors other than emoji's). */
const UNSEEN =
  // eslint-disable-next-line no-control-regex -- control characters are what this expression removes
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Variation_Selector}(?<!\ufe0f)/gu;

/**
 * A mark before or after text that is quoted for a model.
 * @param boundary letters and digits that the author of the text cannot guess
 */
export function mark(what: string, boundary: string): string {
  return `${OPEN}${what} ${boundary}${CLOSE}`;
}

/** The text for a place between two marks: it contains neither a mark nor invisible characters. */
export function quotable(text: string, boundary: string): string {
  return (
    text
      .toWellFormed()
      .replace(/\r\n?|[\u2028\u2029]/g, '\n')
      .replace(UNSEEN, '')
      .replaceAll(OPEN, '[')
      .replaceAll(CLOSE, ']')
      // Last, because invisible characters could split it.
      .replaceAll(boundary, '…')
  );
}

/** The same on one line, so that a title cannot imitate a source. */
export function lineOf(text: string, max: number, boundary: string): string {
  return cut(
    quotable(text.slice(0, 4 * max), boundary)
      .replace(/\s+/g, ' ')
      .trim(),
    max,
  );
}

/** @param max UTF-16 code units */
export function cut(text: string, max: number): string {
  // Does not split a surrogate pair.
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
