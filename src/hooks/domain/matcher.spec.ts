import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { computedMs, computingMs } from '../../../test/support/computing-time.js';
import { Expression, expressionCost, MAX_EXPRESSION_COST } from '../../platform/expressions/index.js';
import { matcherFault, matches } from './matcher.js';

/** The limit for one step on a slow core: 20 ms, and as much again for other work of the machine. */
const MAX_STEP_MS = 40;
const MAX_LENGTH = 10_000;
const filled = (part: string, separator = ''): string =>
  Array(Math.floor(MAX_LENGTH / (part.length + separator.length)))
    .fill(part)
    .join(separator);
const each = (count: number, part: (index: number) => string, separator = ''): string =>
  Array.from({ length: count }, (_, index) => part(index))
    .join(separator)
    .slice(0, MAX_LENGTH);
const ideograph = (index: number): string => String.fromCodePoint(0x4e00 + index);

const DOTTED_NAMES = each(700, (index) => `mcp__app.tool_${index}`, '|').replace(/\|[^|]*$/, '');
const escaped = (names: string): string =>
  names
    .replaceAll('.', '\\.')
    .slice(0, MAX_LENGTH)
    .replace(/\|[^|]*$/, '');

const CATASTROPHIC = [
  ...[
    '(a+)+$',
    '^(a|aa)+$',
    '(.*)*x',
    '([a-zA-Z]+)*$',
    '(a|a?)+$',
    '(.*a){30}',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(x+x+)+y',
    '(a*)*(a*)*(a*)*b',
  ],
  ...[
    '((a{1,100}){1,100}){1,10}',
    '((a{1,10}){1,10}){1,10}',
    '(((a?){10}){10}){10}',
    `(?:${'a?'.repeat(100)}){100}`,
    '(?:.{1,1000})x',
    '.{1000}',
  ],
  ...[
    `(?:${'ab'.repeat(490)}){1000}`,
    `(?:${'ab'.repeat(4_900)}){1000}`,
    '[ab]*a[ab]{1000}',
    '(a{0,1000}){0,1000}',
    '(?:(?:){1000}){1000}',
    '(a{5,}){200,}',
  ],
  ...['a{1000}', '.{100}', '.{30}', '(a{3}){3}', '(?:a{1000}){1}'].map((part) => filled(part)),
  ...[
    '.*',
    '.*x',
    'a*',
    'a?',
    'a?b?',
    '(a)',
    '(a)*',
    '(\\b|a)*',
    '(a?)*?',
    '\\b',
    '[^a]',
    'a.?',
    '(?:a|b?)',
    '\\w+',
    '\\d{1,9}',
  ].map((part) => filled(part)),
  ...['.', 'ab.', '^|$', '.*a', 'a?', '(a|b)', '[ab]', 'a+?', '\\w'].map((part) => filled(part, '|')),
  ...[
    '\\pL',
    '\\PL',
    '[^\\pL]',
    '\\pL*',
    '\\pL+?',
    '[\\pL\\d]',
    '\\p{Greek}',
    '\\p{Han}?',
    '[[:alpha:]]',
    '[^\\PL]',
  ].map((part) => filled(part)),
  ...['\\pL', '[\\pL]', '\\pL.'].map((part) => filled(part, '|')),
  ...['\\pL', '[!-\\x{1E942}]', '[!-𞥀]', 'k', '[a-z]+', '[^\\pL]', '(?:[à-ÿ]|s)', '[^!-\\x{FFFF}]'].map((part) =>
    `(?i)${filled(part)}`.slice(0, MAX_LENGTH),
  ),
  ...[
    `(?i)[${filled('!-𞥀')}`.slice(0, MAX_LENGTH - 1) + ']',
    `(?i)[${'^\\pL'.repeat(2_000)}]`,
    '(?i)[!-\\x{1E942}]',
    '(?i:[!-\\x{1E900}]{30})',
  ],
  ...['a', '.', '|', '(', '[', '\\', '*', '{', '?', '(?:', '[[:', '(?i)', '\\Q', '[\\', 'a{'].map((part) =>
    part.repeat(MAX_LENGTH / part.length),
  ),
  ...[
    `${'('.repeat(500)}a${')'.repeat(500)}`,
    `${'('.repeat(900)}a${')*'.repeat(900)}`,
    `${'('.repeat(4_900)}a${')'.repeat(4_900)}`,
    `${'(a|b|'.repeat(999)}${')'.repeat(999)}`,
  ],
  ...[
    `[${each(4_900, (index) => ideograph(2 * index))}]`,
    `[${each(95, (index) => ideograph(2 * index))}]`.repeat(100),
    each(1_600, (index) => `${ideograph(index)}.b`, '|'),
  ],
  ...[
    each(3_300, (index) => `${ideograph(index)}.*`),
    each(2_500, (index) => `${ideograph(index)}.*`, '|'),
    each(5_000, (index) => `${ideograph(index)}?`),
    each(5_000, ideograph, '|'),
  ],
  ...[
    DOTTED_NAMES,
    escaped(DOTTED_NAMES),
    DOTTED_NAMES.replaceAll('.', '.*').slice(0, MAX_LENGTH),
    `^(?:${DOTTED_NAMES})$`,
    `(?i)${DOTTED_NAMES}`.slice(0, MAX_LENGTH),
  ],
  ...[
    each(156, () => `${'.'.repeat(62)}x`, '|'),
    each(300, (index) => `${'a'.repeat(index % 30)}.${'a'.repeat(30 - (index % 30))}b`, '|'),
  ],
];
const NAMES = ['a', 'ab', 'x', '_', 'é', '😀'].flatMap((part) =>
  [64, 128, 1_000, 100_000].map((length) => part.repeat(length / part.length)),
);

/** Unique for each number, so that it is not cached. */
let written = 0;
const another = (source: string): string => {
  written += 1;
  return `${source.slice(0, MAX_LENGTH - 10)}|z.${written}`;
};

describe('a matcher', () => {
  it.each([undefined, '', '*'])('matches everything when it is %p', (matcher) => {
    for (const name of ['startup', '', 'a.b', 'x'.repeat(100_000)]) expect(matches(matcher, name)).toBe(true);
  });

  it.each([
    ['send', 'send', true],
    ['send', 'Send', false],
    ['send', 'resend', false],
    ['send|mcp__a-b__c9', 'mcp__a-b__c9', true],
    ['send|mcp__a-b__c9', 'send|mcp__a-b__c9', false],
    ['|send|', '', false],
    ['|', '', false],
    ['constructor|__proto__', 'toString', false],
    ['constructor|__proto__', '__proto__', true],
    ['a'.repeat(MAX_LENGTH), 'a'.repeat(MAX_LENGTH), true],
    ['a'.repeat(MAX_LENGTH), 'a'.repeat(100_000), false],
  ])('of letters, digits, _, - and bars is a list of exact names', (matcher, name, expected) => {
    expect(matches(matcher, name)).toBe(expected);
    expect(matcherFault(matcher)).toBeUndefined();
  });

  it.each([
    ['mcp__.*__send', 'x_mcp__mail__send_now', true],
    ['^mcp__', 'x_mcp__', false],
    ['(?i)SEND', 'resend', true],
    ['send mail', 'send mail', true],
    ['a.c|^b$', 'xabcx', true],
    ['a.c|^b$', 'b', true],
    ['a.c|^b$', 'bb', false],
    ['a\\.c', 'abc', false],
    ['a.c', 'a\nc', false],
    ['a.c', 'a😀c', true],
    ['^.$', '😀', true],
    ['^|x', '', true],
    ['^a.$|c$', 'abc', true],
    ['[^a]', 'aaa', false],
    ['\\pL{3}$', 'éàü', true],
  ])('is otherwise an unanchored regular expression (%s, %s)', (matcher, name, expected) => {
    expect(matcherFault(matcher)).toBeUndefined();
    expect(matches(matcher, name)).toBe(expected);
  });

  it.each([
    ['(', 'must be a regular expression in the syntax of RE2: missing closing ): `(`'],
    ['(?=a)', 'must be a regular expression in the syntax of RE2: invalid or unsupported Perl syntax: `(?=`'],
    ['(a)\\1', 'must be a regular expression in the syntax of RE2: invalid escape sequence: `\\1`'],
    ['[z-a]', 'must be a regular expression in the syntax of RE2: invalid character class range: `z-a`'],
    ['(?:a{300}){300}', 'is too complex: its repetitions and classes take too many steps'],
    ['.'.repeat(10_001), 'is too complex: it has more than 10000 characters'],
  ])('is refused with a reason', (matcher, fault) => {
    expect(matcherFault(matcher)).toBe(fault);
    expect(matches(matcher, 'any')).toBe(true);
  });

  it('is refused with a reason that does not repeat the whole expression', () => {
    expect(matcherFault(`(${'é,'.repeat(4_000)}`)?.length).toBeLessThan(300);
  });

  it('may be a list of names with dots up to the maximum length', () => {
    expect(DOTTED_NAMES.length).toBeGreaterThan(9_900);
    for (const list of [DOTTED_NAMES, escaped(DOTTED_NAMES)]) {
      expect(matcherFault(list)).toBeUndefined();
      expect(matches(list, 'mcp__app.tool_7')).toBe(true);
      expect(matches(list, 'mcp__other_tool_7')).toBe(false);
    }
  });

  it('decides names of tools of the maximum length, for every accepted expression', () => {
    const most = 'a?'.repeat(MAX_EXPRESSION_COST / 3 - 2) + '!';
    expect(matcherFault(most)).toBeUndefined();
    expect(matches(most, 'a'.repeat(64))).toBe(false);
  });

  it('matches names that are too long to be decided', () => {
    expect(matches('(a+)+$!', 'b'.repeat(100_000))).toBe(true);
  });

  it('finds the same matches as the engine', () => {
    const part = fc.constantFrom('a', 'b', '.', '\\.', '^', '$', '|', 'ab', '😀', 'a*', '(?:b|a)', '[^b]', '\n');
    const source = fc.array(part, { maxLength: 8 }).map((parts) => `${parts.join('')}a.|b`);
    const name = fc.array(fc.constantFrom('a', 'b', '.', '😀', '\n'), { maxLength: 6 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(source, name, (given, text) => {
        fc.pre(matcherFault(given) === undefined);
        expect(matches(given, text)).toBe(RE2JS.compile(given).test(text));
      }),
    );
  });

  it('is never estimated below the size of its program', () => {
    const atom = fc.constantFrom(
      'a',
      '.',
      '\\pL',
      '[a-z]',
      '[[:alpha:]][]x]',
      '\\Qa(\\E',
      '(?i)',
      '\\b',
      '^',
      '\\x{1000}',
      '\\x41',
      '[\\]]',
      '(?s:.)',
      '(?P<n>a)',
    );
    const repetition = fc.constantFrom('', '', '*', '+?', '{3}', '{2,5}', '{0,9}', '{4,}');
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { depthSize: 'small' },
        fc.tuple(atom, repetition).map((parts) => parts.join('')),
        fc.tuple(tie('expression'), tie('expression')).map((parts) => parts.join('')),
        fc.tuple(tie('expression'), tie('expression')).map((parts) => `(?:${parts.join('|')})`),
        fc.tuple(tie('expression'), repetition).map(([inner, times]) => `(${inner})${times}`),
      ),
    }));
    fc.assert(
      fc.property(expression, (source) => {
        const cost = expressionCost(source);
        fc.pre(cost <= MAX_EXPRESSION_COST);
        let size = 0;
        try {
          size = RE2JS.compile(source).programSize();
        } catch {
          fc.pre(false);
        }
        expect(size).toBeLessThanOrEqual(cost + 10);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(CATASTROPHIC.map((source) => [source.slice(0, 30), source] as const))(
    'takes no long step, whatever it is (%s)',
    (_shown, source) => {
      expect(source.length).toBeLessThanOrEqual(MAX_LENGTH);
      expect(computingMs(() => matcherFault(another(source)))).toBeLessThan(MAX_STEP_MS);
      for (const name of ['ab'.repeat(32), '😀'.repeat(32)])
        expect(computingMs(() => matches(another(source), name))).toBeLessThan(MAX_STEP_MS);
      for (const name of NAMES)
        expect(computingMs(() => matches(source, `${name}${(written += 1)}`))).toBeLessThan(MAX_STEP_MS);
    },
  );

  it('answers repeated names from the cache', () => {
    const guard = 'a?'.repeat(900) + '!';
    matches(guard, 'a'.repeat(64));
    const before = process.threadCpuUsage();
    for (let times = 0; times < 1_000; times += 1) matches(guard, 'a'.repeat(64));
    expect(computedMs(before)).toBeLessThan(MAX_STEP_MS);
  });

  it('bounds the memory of the cache', () => {
    const heavy = (index: number): string => `(?:[\\pL\\d]?b){20}|(?:a?b?){90}c${index}.`;
    expect(matcherFault(heavy(0))).toBeUndefined();
    for (let index = 0; index < 300; index += 1) Expression.compile(heavy(index)).test('ab'.repeat(32));
    const before = process.memoryUsage().heapUsed;
    for (let index = 300; index < 900; index += 1) Expression.compile(heavy(index)).test('ab'.repeat(32));
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
  });
});
