/** An array as PostgreSQL text, for `$1::text[]::uuid[]`: the embedded and the server driver encode a JavaScript array differently. */
export function uuids(ids: readonly string[]): string {
  return `{${ids.join(',')}}`;
}
