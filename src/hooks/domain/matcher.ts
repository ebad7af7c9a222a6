import { LRUCache } from 'lru-cache';
import { Expression, RefusedExpression } from '../../platform/expressions/index.js';

/** A list of exact names, separated by bars. */
const EXACT_NAMES = /^[A-Za-z0-9_|-]*$/;

/**
 * Why a matcher is invalid, as a clause after its path (`must be a regular expression in the syntax of RE2: ...`); undefined when
 * it is valid. Takes up to 20 ms, so a caller with several matchers yields in between.
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

type NameTest = (name: string) => boolean;

/** Answers for longer names are not cached: no tool has one. */
const MAX_CACHED_NAME = 128;
const MAX_CACHED_NAMES = 100;

const tests = new LRUCache<string, NameTest>({
  max: 1_000,
  maxSize: 1_000_000,
  sizeCalculation: (_test, matcher) => matcher.length + 1,
  memoMethod: testOf,
});

/**
 * Whether the handlers of a group with this matcher are called for a tool. An undecidable case counts as a match, so that no call
 * bypasses a guard: an expression that no longer compiles, or a name that is too long for it (tools of this service have at most
 * 64 characters, which never is).
 */
export function matches(matcher: string | undefined, name: string): boolean {
  return tests.memo(matcher ?? '')(name);
}

/** Compiles nothing before the first call of the test, because many matchers are never used. */
function testOf(matcher: string): NameTest {
  if (matchesAll(matcher)) return () => true;
  return EXACT_NAMES.test(matcher) ? exactTest(matcher) : expressionTest(matcher);
}

function exactTest(matcher: string): NameTest {
  const names = new Set(matcher.split('|'));
  names.delete('');
  return (name) => names.has(name);
}

function expressionTest(matcher: string): NameTest {
  // `Expression` caches the compiled program by its cost, so a test itself stays small.
  const isMatch = (name: string): boolean => {
    try {
      return Expression.compile(matcher).test(name) ?? true;
    } catch {
      return true;
    }
  };
  const answers = new LRUCache<string, boolean>({ max: MAX_CACHED_NAMES, memoMethod: isMatch });
  return (name) => (name.length <= MAX_CACHED_NAME ? answers.memo(name) : isMatch(name));
}
