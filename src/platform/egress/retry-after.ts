/** The service never waits longer. */
const MAX_MS = 366 * 86_400_000;
const HTTP_DATE =
  /^[a-z]{3,9},? \d{1,2}[ -][a-z]{3}[ -]\d{2,4} \d{2}:\d{2}:\d{2} GMT$|^[a-z]{3} [a-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/i;

/**
 * The wait of a `Retry-After` header (RFC 9110, 10.2.3); some servers send fractions of seconds.
 * @returns milliseconds from 0 to a year; null if the header is absent or neither seconds nor an HTTP date
 */
export function retryAfterMs(header: string | undefined, now: Date): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1_000), MAX_MS);
  if (!HTTP_DATE.test(text)) return null;
  // The oldest form is in GMT without saying so.
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(time) ? null : Math.min(Math.max(time - now.getTime(), 0), MAX_MS);
}
