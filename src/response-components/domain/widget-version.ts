/** A release of the widget's SDK. */
export type Release = readonly [major: number, minor: number, patch: number];

const NUMBER = '(0|[1-9]\\d{0,14})';
const IDENTIFIER = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][\\da-zA-Z-]*)';
/** Semantic versioning 2.0; numbers beyond the safe integers are invalid. */
const VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(-${IDENTIFIER}(?:\\.${IDENTIFIER})*)?(?:\\+[\\da-zA-Z-]+(?:\\.[\\da-zA-Z-]+)*)?$`,
);

/**
 * Whether a version is at least this release by the precedence of semantic versioning: a pre-release is lower than its release, and
 * build metadata does not count. False for an invalid version.
 */
export function isAtLeast(version: string, release: Release): boolean {
  const match = VERSION.exec(version);
  if (!match) return false;
  const [, major, minor, patch, preRelease] = match;
  const differences = [major, minor, patch].map((part, index) => Number(part) - (release[index] ?? 0));
  const decisive = differences.find((difference) => difference !== 0);
  return decisive === undefined ? preRelease === undefined : decisive > 0;
}
