/** Only marks have these brackets: in what is quoted they become square ones. */
const [OPEN, CLOSE] = ['⟦', '⟧'];

/** Controls but tab and line break, direction overrides, and characters that people do not see but models read (tags, joiners of words, variants that no emoji has). */
const UNSEEN =
  // eslint-disable-next-line no-control-regex -- a mistake elsewhere, the purpose here: these characters are removed
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Variation_Selector}(?<!\ufe0f)/gu;

/**
 * A mark around something that is quoted for a model.
 * @param boundary letters and digits that the author of the quoted text cannot guess
 */
export function mark(what: string, boundary: string): string {
  return `${OPEN}${what} ${boundary}${CLOSE}`;
}

/** A text as a model may read it between two marks: nothing in it looks like one, and nothing in it is unseen. */
export function quotable(text: string, boundary: string): string {
  return (
    text
      .toWellFormed()
      .replace(/\r\n?|[\u2028\u2029]/g, '\n')
      .replace(UNSEEN, '')
      .replaceAll(OPEN, '[')
      .replaceAll(CLOSE, ']')
      // After what could have hidden in it is gone.
      .replaceAll(boundary, '…')
  );
}

/** The same on one line, so that a title cannot pass for a source. */
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
  // Not between the halves of a character.
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
