/** Without control characters except tabs and line ends, and without lone surrogates: the database can store neither. */
export function printable(text: string): string {
  return (
    text
      .replace(/\r\n?|[\u2028\u2029]/g, '\n')
      // eslint-disable-next-line no-control-regex -- removes control characters
      .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\u00ad\u200b]/g, '')
      .toWellFormed()
  );
}

export function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

/** Without space at the ends of lines and without empty lines at both ends; of several empty lines in a row one stays. */
export function tidy(text: string): string {
  const lines = printable(text)
    .split('\n')
    .map((line) => line.trimEnd());
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .replace(/^\n+|\n+$/g, '');
}

export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '));
}

export function languageOf(tag: string | null | undefined): string | null {
  return /^\s*([a-z]{2,3})(?:[-_]|\s*$)/i.exec(tag ?? '')?.[1]?.toLowerCase() ?? null;
}
