const UNITS = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['week', 7 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/**
 * How long ago a time was, such as "2 hours ago".
 * @param at ISO 8601; an empty text is returned for anything else
 * @param now milliseconds since the epoch
 */
export function relativeDate(at: string, now: number, locale: string): string {
  const past = now - Date.parse(at);
  if (Number.isNaN(past)) return '';
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  const found = UNITS.find(([, length]) => past >= length);
  return found ? format.format(-Math.floor(past / found[1]), found[0]) : format.format(0, 'second');
}
