import { LRUCache } from 'lru-cache';
import { Expression, RefusedExpression } from './expression.js';

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

/** Answers for longer names are not cached: no tool has one. */
const MAX_CACHED_NAME = 128;
const MAX_CACHED_NAMES = 100;

const MAX_CACHED_MATCHERS = 1_000;
const MAX_CACHED_CHARACTERS = 1_000_000;

/**
 * Decides for which tools the handlers of a group are called. An undecidable case counts as a match, so that no call bypasses a
 * guard: an expression that no longer compiles, or a name that is too long for it (tools of this service have at most 64
 * characters, which never is).
 */
export class Matcher {
  private static readonly cache = new LRUCache<string, Matcher>({
    max: MAX_CACHED_MATCHERS,
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (_matcher, source) => source.length + 1,
  });

  private constructor(private readonly test: (name: string) => boolean) {}

  /** Compiles nothing before the first call of `matches`, because many matchers are never used. */
  static of(matcher: string | undefined): Matcher {
    const source = matcher ?? '';
    const cached = Matcher.cache.get(source);
    if (cached) return cached;
    const created = new Matcher(testOf(source));
    Matcher.cache.set(source, created);
    return created;
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
  // `Expression` caches the compiled program by its cost, so a matcher itself stays small.
  const answers = new LRUCache<string, boolean>({ max: MAX_CACHED_NAMES });
  return (name) => {
    const known = answers.get(name);
    if (known !== undefined) return known;
    const answer = isMatch(source, name);
    if (name.length <= MAX_CACHED_NAME) answers.set(name, answer);
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
