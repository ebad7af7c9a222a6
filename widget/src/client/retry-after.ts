/** @returns the `Retry-After` in seconds, at most `most`; null if the response has no valid number */
export function toldWait({ headers }: Response, most: number): number | null {
  const value = headers.get('retry-after');
  const seconds = value === null ? Number.NaN : Number(value);
  return seconds >= 0 ? Math.min(seconds, most) : null;
}
