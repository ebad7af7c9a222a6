const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Latin-1 without control characters; HTTP takes blanks at the ends for none of the value. */
const FIELD_VALUE = /^[\x21-\x7e\xa0-\xff](?:[\t\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?$/;

/** Whether HTTP knows such names. */
export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

/** Whether a header can carry the value, which is not empty. */
export function isHeaderFieldValue(value: string): boolean {
  return FIELD_VALUE.test(value);
}

/** A name that two entries have, without regard to case. */
export function repeatedHeader(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name.toLowerCase())) return name;
    seen.add(name.toLowerCase());
  }
  return undefined;
}
