/**
 * The versions that an `If-Match` header accepts: `"3"`, `W/"3"`, a list of those.
 * @returns undefined, which accepts any version, for `*` and for no header. A tag that is not a version accepts none.
 */
export function acceptableVersions(header: string | undefined): number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return header
    .split(',')
    .map((tag) => /^(?:W\/)?"(\d{1,10})"$/.exec(tag.trim())?.[1])
    .filter((version) => version !== undefined)
    .map(Number);
}

export function etagOf(version: number): string {
  return `"${version}"`;
}
