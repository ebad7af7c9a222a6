import { LRUCache } from 'lru-cache';
import { RE2JS, RE2JSSyntaxException } from 're2js';

/** The estimated number of instructions of a compiled program. This many take 5 to 20 ms to compile on a slow core, once. */
export const MAX_EXPRESSION_COST = 3_000;

/** UTF-16 units. */
const MAX_EXPRESSION_LENGTH = 10_000;

/**
 * Instructions times characters, 10 to 40 ns each: 10 ms in the worst case. Even the largest expression can search names of 80
 * characters, and tools of this service have at most 64.
 */
const MAX_SEARCH_STEPS = 250_000;

/** At about 200 bytes an instruction, the cache takes at most 40 MB. */
const MAX_CACHED_COST = 200_000;
const MAX_CACHED = 500;

/**
 * An unanchored regular expression of a customer in RE2's syntax. Compiling and searching block the event loop, so both are
 * bounded. Linear time is not enough: `(?:a{500}){2}` is a program of a thousand instructions, a class may stand for a hundred
 * thousand characters, and a search takes the product of program and text. So the cost is estimated before compiling.
 */
export class Expression {
  /**
   * @param cost the estimated number of instructions for one character of a text
   * @param find whether a text within the limits has a match
   */
  constructor(
    readonly cost: number,
    private readonly find: (text: string) => boolean,
  ) {}

  /** @throws {RefusedExpression} when it is invalid or too complex */
  static compile(source: string): Expression {
    const outcome = cache.memo(source);
    if (outcome instanceof RefusedExpression) throw outcome;
    return outcome;
  }

  /** The same for a pattern of ECMAScript, as JSON Schema has them. RE2 has no lookaround and no back-references. */
  static compilePattern(pattern: string): Expression {
    return Expression.compile(pattern.length > MAX_EXPRESSION_LENGTH ? pattern : RE2JS.translateRegExp(pattern));
  }

  /** The most instructions that a search in the text executes, 10 to 40 ns each. */
  stepsFor(text: string): number {
    return (this.cost + STEPS_PER_CHARACTER) * text.length;
  }

  /** @returns undefined when the text is too long for this expression, or the engine fails */
  test(text: string, maxSteps: number = MAX_SEARCH_STEPS): boolean | undefined {
    if (this.stepsFor(text) > maxSteps) return undefined;
    try {
      return this.find(text);
    } catch {
      return undefined;
    }
  }
}

/** The message is a clause after the field's name: `must be a regular expression ...`, `is too complex: ...`. */
export class RefusedExpression extends Error {}

/** Refusals are cached too, because finding one out takes as long as compiling. */
const cache = new LRUCache<string, Expression | RefusedExpression>({
  max: MAX_CACHED,
  maxSize: MAX_CACHED_COST,
  sizeCalculation: (outcome, source) =>
    Math.ceil(1 + source.length / 100 + (outcome instanceof Expression ? outcome.cost : 0)),
  memoMethod: outcomeOf,
});

function outcomeOf(source: string): Expression | RefusedExpression {
  try {
    return compiled(source);
  } catch (error) {
    if (error instanceof RefusedExpression) return error;
    return new RefusedExpression(`must be a regular expression in the syntax of RE2: ${reasonOf(error)}`);
  }
}

function compiled(source: string): Expression {
  if (source.length > MAX_EXPRESSION_LENGTH)
    throw new RefusedExpression(`is too complex: it has more than ${MAX_EXPRESSION_LENGTH} characters`);
  if (NAMES.test(source)) return new Expression(Math.ceil(source.length * NAME_CHARACTER_COST), namesSearch(source));
  const cost = expressionCost(source);
  if (cost > MAX_EXPRESSION_COST)
    throw new RefusedExpression('is too complex: its repetitions and classes take too many steps');
  const program = RE2JS.compile(source);
  // Not `test`, which builds automaton states: for a text that is searched once it takes ten times as long, and memory.
  return new Expression(cost, (text) => program.matcher(text).find());
}

/** Characters of the reason in a message. */
const MAX_REASON = 200;

function reasonOf(error: unknown): string {
  if (!(error instanceof RE2JSSyntaxException)) return 'it cannot be compiled';
  const description = [...error.message.replace(/^error parsing regexp: /, '')];
  return description.length > MAX_REASON ? `${description.slice(0, MAX_REASON - 1).join('')}…` : description.join('');
}

/** The cost of a character of the text, however small the program. */
const STEPS_PER_CHARACTER = 10;

/** Relative to an instruction of the engine. */
const NAME_CHARACTER_COST = 1 / 4;

const NAME = String.raw`\^?(?:[^\\.^$*+?()[\]{}|]|\.|\\[\\.^$*+?()[\]{}|/-])*\$?`;
const NAMES = new RegExp(`^${NAME}(?:\\|${NAME})*$`, 'u');

interface Name {
  /** Code points; `ANY` for a dot. */
  readonly points: number[];
  fromStart: boolean;
  toEnd: boolean;
}

const ANY = -1;
const NEWLINE = 10;

/**
 * Searches alternatives of names with dots and anchors, but without repetitions, groups or classes. Comparing them one by one
 * takes at most source times text steps, each far cheaper than one of the engine's. So a list may be as long as a matcher. Not by
 * a `RegExp` of the platform: compiling a long one takes up to half a second when a name has characters beyond Latin-1.
 */
function namesSearch(source: string): (text: string) => boolean {
  const names = namesOf(source);
  return (text) => {
    const points = Array.from(text, codePoint);
    return names.some((name) => isIn(points, name));
  };
}

function namesOf(source: string): Name[] {
  let name: Name = { points: [], fromStart: false, toEnd: false };
  const names = [name];
  for (const [token] of source.matchAll(/\\?[^]/gu)) {
    if (token === '|') names.push((name = { points: [], fromStart: false, toEnd: false }));
    else if (token === '^') name.fromStart = true;
    else if (token === '$') name.toEnd = true;
    else name.points.push(token === '.' ? ANY : codePoint(token.startsWith('\\') ? token.slice(1) : token));
  }
  return names;
}

/** Loops without closures, because a long list spends its time here. */
function isIn(points: readonly number[], name: Name): boolean {
  const wanted = name.points;
  const last = points.length - wanted.length;
  const end = name.fromStart ? Math.min(last, 0) : last;
  for (let start = name.toEnd ? Math.max(last, 0) : 0; start <= end; start += 1) {
    let index = 0;
    while (
      index < wanted.length &&
      (wanted[index] === points[start + index] || (wanted[index] === ANY && points[start + index] !== NEWLINE))
    )
      index += 1;
    if (index === wanted.length) return true;
  }
  return false;
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/** In the order in which they are tried. Each is unambiguous, so matching takes linear time. */
const TOKEN = new RegExp(
  [
    String.raw`\\Q[^]*?(?:\\E|$)`,
    String.raw`\\[pP](?:\{\^?\w{1,40}\}|[^{])?`,
    String.raw`\\(?:x\{[0-9A-Fa-f]{1,8}\}|[^])?`,
    String.raw`\[\^?\]?(?:\[:\^?[a-z]{1,10}:\]|\\[^]|[^\]\\])*\]?`,
    String.raw`\(\?(?:P?<\w{1,40}>|[A-Za-z-]{0,20}[:)])`,
    String.raw`\{\d{1,5}(?:,\d{0,5})?\}`,
    '[^]',
  ].join('|'),
  'gu',
);

/** The engine sorts, merges and folds about a hundred ranges for each Unicode property. */
const PROPERTY_COST = 60;
/** The engine searches the rest of the expression for the end of `[:alpha:]`. */
const POSIX_COST = 6;
/** The engine looks up the other case of each character in a range. */
const FOLDED_CHARACTERS_PER_STEP = 20;
const CLASS_CHARACTERS_PER_STEP = 8;

const CAPTURE_COST = 2;
/** For each repetition, because `*` may take two instructions. */
const REPETITION_COST = 2;

/** Far above the limit, and far below where numbers lose precision. */
const MAX_COUNTED = 1e9;

interface Group {
  cost: number;
  /** Of the part that a following repetition repeats. */
  last: number;
}

/** An estimate of the program's instructions. Syntax that it does not know counts as the most expensive reading of it. */
export function expressionCost(source: string): number {
  const foldsCase = /\(\?[A-Za-z-]*i/.test(source);
  const outer: Group[] = [];
  let group: Group = { cost: 0, last: 0 };
  const add = (cost: number): void => {
    group.cost += cost;
    group.last = cost;
  };
  for (const token of source.match(TOKEN) ?? []) {
    if (token.startsWith('(')) {
      // A group of flags alone is not an atom: a repetition after it applies to what is before it.
      if (token.endsWith(')')) continue;
      outer.push(group);
      group = { cost: token.endsWith(':') ? 0 : CAPTURE_COST, last: 0 };
    } else if (token === ')') {
      const { cost } = group;
      group = outer.pop() ?? { cost: 0, last: 0 };
      add(cost);
    } else if (token === '*' || token === '+' || token === '?') repeat(group, 1);
    else if (token.length > 1 && token.startsWith('{')) repeat(group, timesOf(token));
    else add(atomCost(token, foldsCase));
  }
  // The engine reports groups that are not closed.
  return outer.reduce((cost, each) => cost + each.cost, group.cost);
}

function repeat(group: Group, times: number): void {
  const repeated = Math.min((group.last + REPETITION_COST) * times, MAX_COUNTED);
  group.cost += repeated - group.last;
  group.last = repeated;
}

/** @param token `{2}`, `{2,}`, `{2,3}` */
function timesOf(token: string): number {
  const [min = '', max] = token.slice(1, -1).split(',');
  return Math.max(1, Number(min) + (max === '' ? 1 : 0), Number(max ?? 0));
}

function atomCost(token: string, foldsCase: boolean): number {
  if (token.startsWith('\\Q')) return token.length;
  if (/^\\[pP]/.test(token)) return PROPERTY_COST;
  return token.startsWith('[') ? classCost(token, foldsCase) : 1;
}

const RANGE = /(\\x\{[0-9A-Fa-f]{1,8}\}|\\x[0-9A-Fa-f]{2}|\\?[^])-(\\x\{[0-9A-Fa-f]{1,8}\}|\\x[0-9A-Fa-f]{2}|\\?[^])/gu;

function classCost(token: string, foldsCase: boolean): number {
  const properties = token.match(/\\[pP]/gu)?.length ?? 0;
  const posix = token.match(/\[:/gu)?.length ?? 0;
  const ranges = foldsCase ? [...token.matchAll(RANGE)] : [];
  const folded = ranges.reduce((sum, [, low = '', high = '']) => sum + Math.max(0, endOf(high) - endOf(low)), 0);
  return (
    1 +
    token.length / CLASS_CHARACTERS_PER_STEP +
    properties * PROPERTY_COST +
    posix * POSIX_COST +
    folded / FOLDED_CHARACTERS_PER_STEP
  );
}

function endOf(range: string): number {
  const hexadecimal = /^\\x\{?([0-9A-Fa-f]+)/.exec(range)?.[1];
  return hexadecimal === undefined ? codePoint(range.replace(/^\\(?=[^])/u, '')) : parseInt(hexadecimal, 16);
}
