import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  MAX_JSON_DEPTH,
  MAX_JSON_SHAPES,
  MAX_JSON_VALUES,
  checkJsonLimits,
  checkLargeJsonLimits,
} from './json-limits.js';

const check = (text: string): void => checkJsonLimits(text);
const list = (item: string, count: number): string => `[${`${item},`.repeat(count - 1)}${item}]`;
const names = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"n${index}":1`).join(',')}}`;

describe('the number of values', () => {
  it.each([
    ['empty arrays', '[]'],
    ['empty objects', '{}'],
    ['numbers', '1'],
    ['literals', 'null'],
    ['strings', '"a,[{"'],
    ['escaped quotes', String.raw`"\"\\"`],
    ['long numbers', '9'.repeat(20)],
  ])('is counted exactly: %s', (_name, item) => {
    check(list(item, MAX_JSON_VALUES - 1));
    expect(() => check(list(item, MAX_JSON_VALUES))).toThrow(`body must not have more than ${MAX_JSON_VALUES} values`);
  });

  it('leaves names out, and counts what they name', () => {
    check(list('{"a":1}', MAX_JSON_VALUES / 2 - 1));
    expect(() => check(list('{"a":1}', MAX_JSON_VALUES / 2))).toThrow('values');
  });

  it('is counted however the text is spaced', () => {
    expect(() => check(list(' \t\r\n1 ', MAX_JSON_VALUES))).toThrow('values');
  });

  it('is the number that a walk over the parsed value finds', () => {
    const count = (value: unknown): number => {
      const inner = typeof value === 'object' && value !== null ? Object.values(value) : [];
      return inner.reduce((sum: number, one) => sum + count(one), 1);
    };
    // Of two fields with one name the parser keeps the last.
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(null, true, 0, -1.5e-7, '', 'a"\\,[{'),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'b', '"', '\\'), tie('value')),
      ),
    })).value;
    fc.assert(
      fc.property(tree, (value) => {
        const fill = MAX_JSON_VALUES - count(value) - 2;
        check(`[${JSON.stringify(value)},${list('1', fill)}]`);
        expect(() => check(`[${JSON.stringify(value)},${list('1', fill + 1)}]`)).toThrow('values');
      }),
      { numRuns: 30 },
    );
  });
});

describe('the depth', () => {
  it.each([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
  ])('is counted exactly: %s', (_name, open, close) => {
    const nested = (levels: number): string =>
      `${open.repeat(levels)}${open === '[' ? '' : '1'}${close.repeat(levels)}`;
    check(nested(MAX_JSON_DEPTH));
    expect(() => check(nested(MAX_JSON_DEPTH + 1))).toThrow(`nested more than ${MAX_JSON_DEPTH} levels`);
  });

  it('is that of one place, not of all together', () => {
    expect(() => check(`[${'[[]],'.repeat(1_000)}1]`)).not.toThrow();
  });

  it('ends the reading of a text of brackets alone', () => {
    expect(() => check('['.repeat(5_000_000))).toThrow('nested');
  });
});

describe('the combinations of field names', () => {
  it('may be so many different ones', () => {
    check(names(MAX_JSON_SHAPES * 0.9));
    expect(() => check(names(MAX_JSON_SHAPES * 1.2))).toThrow(
      `${MAX_JSON_SHAPES} different combinations of field names`,
    );
  });

  it('may be repeated', () => {
    expect(() => check(list('{"role":"user","content":"x"}', 60_000))).not.toThrow();
  });

  it('are counted where few names make many of them', () => {
    const pairs = (count: number): string =>
      `[${Array.from({ length: count }, (_, index) => `{"a${index % 250}":1,"b${Math.floor(index / 250)}":2}`).join(',')}]`;
    check(pairs(MAX_JSON_SHAPES * 0.9));
    expect(() => check(pairs(MAX_JSON_SHAPES * 1.2))).toThrow('combinations of field names');
  });
});

describe('text that cannot be stored', () => {
  it.each([
    [String.raw`{"a":"x\u0000"}`, 'body/a must not contain U+0000 or lone surrogates'],
    [String.raw`{"a":[1,{"b":"\ud800"}]}`, 'body/a/1/b must not contain'],
    [String.raw`{"a":"\udc00\ud800"}`, 'body/a must not contain'],
    [String.raw`{"a":"\ud83dx"}`, 'body/a must not contain'],
    [String.raw`{"a":"\ud83d\\ude00"}`, 'body/a must not contain'],
    [String.raw`["\u0000"]`, 'body/0 must not contain'],
    [String.raw`[[],[],{"x":[0,0,"\uDFFF"]}]`, 'body/2/x/2 must not contain'],
    [String.raw`{"\u0061":"\u0000"}`, 'body/a must not contain'],
    [String.raw`{"a":{"\u0000":1}}`, 'body/a has a field whose name holds U+0000 or a lone surrogate'],
    [String.raw`{"a":1,"${'n'.repeat(300)}":"\u0000"}`, `body/${'n'.repeat(100)}... must not contain`],
  ])('is refused by its place: %s', (text, message) => {
    expect(() => check(text)).toThrow(message);
  });

  it.each([
    String.raw`{"a":"\ud83d\ude00 \\u0000 \\ud800 \u00e9"}`,
    '{"a":"\u{1f600}é"}',
    String.raw`["\\","\"","\uD83D\uDE00"]`,
  ])('differs from text that the database can store: %s', (text) => {
    expect(() => check(text)).not.toThrow();
  });

  it('is what a look at the parsed value would refuse', () => {
    const storable = (value: unknown): boolean => {
      if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
      if (typeof value !== 'object' || value === null) return true;
      return Object.entries(value).every(([name, inner]) => name !== '__proto__' && storable(name) && storable(inner));
    };
    const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\0', '\ud83d', '\ude00', 'é', '_', ',', '{') });
    const name = fc.oneof(text, fc.constant('__proto__'), fc.constant('_'));
    const tree = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.integer(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(name, tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(tree, (value) => {
        const json = JSON.stringify(value);
        if (storable(JSON.parse(json))) expect(() => check(json)).not.toThrow();
        else expect(() => check(json)).toThrow(/body/);
      }),
      { numRuns: 500 },
    );
  });
});

describe('__proto__', () => {
  it.each([
    '{"__proto__":1}',
    '{"a":[{"__proto__":1}]}',
    String.raw`{"\u005f_proto__":1}`,
    String.raw`{"__pr\u006fto__":{}}`,
  ])('is refused as a name in any spelling: %s', (text) => {
    expect(() => check(text)).toThrow('__proto__ is not allowed');
  });

  it('is refused however many other names came before it', () => {
    expect(() => check(`[${names(8_000)},{"__proto__":1}]`)).toThrow('__proto__');
  });

  it('is text like any other', () => {
    expect(() => check('{"a":"__proto__","__proto":1}')).not.toThrow();
  });
});

describe('a large text', () => {
  const long = 'x'.repeat(3 * 1024 * 1024);
  const inSlices = async (text: string): Promise<number> => {
    let turns = 0;
    await checkLargeJsonLimits(text, () => {
      turns += 1;
      return Promise.resolve();
    });
    return turns;
  };

  it('is read in turns', async () => {
    expect(await inSlices(list(`"${'x'.repeat(1_021)}"`, 3 * 1024))).toBe(3);
    expect(await inSlices('[]')).toBe(0);
  });

  it.each([
    ['values', list(`"${'x'.repeat(26)}"`, MAX_JSON_VALUES)],
    ['body/1/name must not contain', String.raw`["${long}",{"name":"${long}\ud800"}]`],
    ['body/name/2 must not contain', String.raw`{"name":["${long}","${long}","\u0000"]}`],
    ['nested', `["${long}",${'['.repeat(MAX_JSON_DEPTH)}`],
  ])('is refused as it is in one: %s', async (message, text) => {
    expect(() => check(text)).toThrow(message);
    await expect(inSlices(text)).rejects.toThrow(message);
  });

  it('is accepted as it is in one', async () => {
    const text = list(String.raw`"xxxxxxx\ud83d\ude00xxxxxxx\"xxxxxxx"`, MAX_JSON_VALUES - 1);
    check(text);
    expect(await inSlices(text)).toBeGreaterThan(1);
  });
});

describe('a text that is no JSON', () => {
  it.each([
    '',
    '{',
    '"',
    '"\\',
    '"\\u',
    '"\\u12',
    ']]]]',
    '}{',
    '[1 2',
    '{"a" "b"',
    'nul',
    '{"__proto_',
    '\\u0000',
    ',,,,',
    '{,,"a"',
  ])('is left to the parser: %j', (text) => {
    expect(() => check(text)).not.toThrow();
  });

  it('of any bytes is read without a fault', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', '\\u', 'd8', '00', 'a', ' ')),
        (parts) => {
          try {
            check(parts.join(''));
          } catch (error) {
            expect(error).toMatchObject({ kind: 'invalid', message: expect.stringMatching(/^body/) });
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
