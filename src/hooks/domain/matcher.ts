import { LRUCache } from 'lru-cache';
import { Expression, RefusedExpression } from './expression.js';

/** Letters, digits, `_`, `-` and the bar that separates: an exact name each. */
const EXACT_NAMES = /^[A-Za-z0-9_|-]*$/;

/**
 * What is wrong with a matcher, reading on from its path (`must be a regular expression in the syntax of RE2: ...`, `is too complex: ...`), or undefined.
 * One takes up to 20 ms: callers with many let others have their turn between two.
 */
export function matcherFault(matcher: string): string | undefined {
  if (matchesAll(matcher) || EXACT_NAMES.test(matcher)) return undefined;
  try {
    Expression.compile(matcher);
    return undefined;
  } catch (error) {
    return error instanceof RefusedExpression ? error.message : 'must be a regular expression';
  }
}

function matchesAll(matcher: string): boolean {
  return matcher === '' || matcher === '*';
}

/** A longer name is no tool's, and is worked out each time. */
const MAX_REMEMBERED_NAME = 128;
const MAX_REMEMBERED_NAMES = 100;

/** Of matchers that are kept together, and their characters. */
const MAX_KEPT = 1_000;
const MAX_KEPT_CHARACTERS = 1_000_000;

/**
 * Which names a group of hooks is asked about. What cannot be decided within bounds counts as a match, so that nothing gets around a guard: a name that
 * is too long for the expression (one of 64 characters, the longest that this service gives a tool, never is) and an expression that no longer compiles.
 */
export class Matcher {
  private static readonly kept = new LRUCache<string, Matcher>({
    max: MAX_KEPT,
    maxSize: MAX_KEPT_CHARACTERS,
    sizeCalculation: (_matcher, source) => source.length + 1,
  });

  private constructor(private readonly test: (name: string) => boolean) {}

  /** The same one for the same text. Nothing is compiled before the first name is asked about: documents have many that never are. */
  static of(matcher: string | undefined): Matcher {
    const source = matcher ?? '';
    const known = Matcher.kept.get(source);
    if (known) return known;
    const made = new Matcher(testOf(source));
    Matcher.kept.set(source, made);
    return made;
  }

  matches(name: string): boolean {
    return this.test(name);
  }
}

function testOf(source: string): (name: string) => boolean {
  if (matchesAll(source)) return () => true;
  return EXACT_NAMES.test(source) ? exactTest(source) : expressionTest(source);
}

function exactTest(source: string): (name: string) => boolean {
  const names = new Set(source.split('|'));
  names.delete('');
  return (name) => names.has(name);
}

function expressionTest(source: string): (name: string) => boolean {
  // The program itself is kept by what it costs, apart from the matchers: whoever holds one of these does not hold megabytes.
  const answers = new LRUCache<string, boolean>({ max: MAX_REMEMBERED_NAMES });
  return (name) => {
    const known = answers.get(name);
    if (known !== undefined) return known;
    const answer = isMatch(source, name);
    if (name.length <= MAX_REMEMBERED_NAME) answers.set(name, answer);
    return answer;
  };
}

function isMatch(source: string, name: string): boolean {
  try {
    return Expression.compile(source).test(name) ?? true;
  } catch {
    return true;
  }
}
