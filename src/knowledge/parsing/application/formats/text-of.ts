/**
 * What a person would see: no control characters but tabs and line ends, and no halves of surrogate pairs, neither of
 * which can be stored.
 */
export function visible(text: string): string {
  return (
    text
      .replace(/\r\n?|[\u2028\u2029]/g, '\n')
      // eslint-disable-next-line no-control-regex -- they are what is looked for
      .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\u00ad\u200b]/g, '')
      .toWellFormed()
  );
}

/** On one line, without space around it. */
export function oneLine(text: string): string {
  return visible(text).replace(/\s+/g, ' ').trim();
}

/** Without space at the ends of lines and around the whole, with at most one empty line in a row. */
export function tidy(text: string): string {
  const lines = visible(text)
    .split('\n')
    .map((line) => line.trimEnd());
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .replace(/^\n+|\n+$/g, '');
}

/** The first part of a language tag. */
export function languageOf(tag: string | null | undefined): string | null {
  return /^\s*([a-z]{2,3})(?:[-_]|\s*$)/i.exec(tag ?? '')?.[1]?.toLowerCase() ?? null;
}
