/** Assertions, and the steps of searches for patterns, of one check: at most about 80 ms. */
export const MAX_STEPS = 700_000;

/** Nested schemas of one check, references included; each takes a few frames of the stack. */
export const MAX_DEPTH = 500;

/** The estimated instructions of all patterns of a schema together; this many take about 40 ms to compile. */
export const MAX_PATTERNS_COST = 6_000;

/** What each pattern costs besides its instructions. */
export const PATTERN_COST = 10;

/** Problems that a check reports. */
export const MAX_PROBLEMS = 5;

/** Characters of a value, a name and a path in a message. */
export const SHOWN_VALUE = 200;
export const SHOWN_NAME = 100;
export const SHOWN_PATH = 500;

/** Characters of a text with a `format`; a longer one has none. */
export const MAX_FORMATTED = 10_000;
