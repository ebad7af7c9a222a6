const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Latin-1 without control characters; blanks at the ends are not part of a value. */
const FIELD_VALUE = /^[\x21-\x7e\xa0-\xff](?:[\t\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?$/;

export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

/** Whether it is a valid value of a header and not empty. */
export function isHeaderFieldValue(value: string): boolean {
  return FIELD_VALUE.test(value);
}

/** A name that occurs twice, regardless of case. */
export function repeatedHeader(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name.toLowerCase())) return name;
    seen.add(name.toLowerCase());
  }
  return undefined;
}
