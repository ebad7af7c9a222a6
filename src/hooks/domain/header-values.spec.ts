import { describe, expect, it } from '@jest/globals';
import { type HeaderValues, hasHeaders, headersIn, type HooksWithHeaders, resolveHeaders } from './header-values.js';
import { type HooksDocument, type HttpHandler, REDACTED } from './hooks-document.js';

const KEEP = REDACTED;
const ONE = 'https://one.example/';
const TWO = 'https://two.example/';

const http = (url: string, headers?: Readonly<Record<string, string>>): HttpHandler => ({
  type: 'http',
  url,
  ...(headers && { headers }),
});
const tool = { type: 'mcp_tool', server: 's', tool: 't' } as const;

/** With the header values that the document itself contains. */
function hooks(document: HooksDocument): HooksWithHeaders {
  return { document, headers: headersIn(document) };
}

function kept(wanted: HooksDocument, stored: HooksDocument): HeaderValues {
  return resolveHeaders(hooks(wanted), hooks(stored), (path) => {
    throw new Error(`missing ${path}`);
  });
}

describe('headersIn', () => {
  it('has an entry for each handler over all groups, and null for one without headers', () => {
    const document = { Stop: [{ hooks: [http(ONE), tool] }, { hooks: [http(TWO, { A: '1' }), http(TWO, {})] }] };
    expect(headersIn(document)).toMatchObject({ Stop: [null, null, { A: '1' }, {}], PreToolUse: [] });
  });
});

describe('hasHeaders', () => {
  it.each<[boolean, HooksDocument]>([
    [false, {}],
    [false, { Stop: [{ hooks: [http(ONE), http(ONE, {}), tool] }] }],
    [true, { Stop: [{ hooks: [tool, http(ONE, { A: KEEP })] }] }],
  ])('is %s', (expected, document) => {
    expect(hasHeaders(document)).toBe(expected);
  });
});

describe('a redacted value', () => {
  const stored: HooksDocument = { Stop: [{ hooks: [http(ONE, { 'X-Key': 'old' })] }] };

  it('keeps the stored value of its URL and name, while other values are those of the request', () => {
    const wanted = { Stop: [{ hooks: [http(ONE, { 'X-Key': KEEP, 'X-New': 'new' })] }] };
    expect(kept(wanted, stored).Stop).toEqual([{ 'X-Key': 'old', 'X-New': 'new' }]);
  });

  it.each<[string, HooksDocument]>([
    ['in another group', { Stop: [{ hooks: [tool] }, { hooks: [http(ONE, { 'X-Key': KEEP })] }] }],
    ['in another event', { PreToolUse: [{ hooks: [http(ONE, { 'X-Key': KEEP })] }] }],
    ['in another order', { Stop: [{ hooks: [http(TWO, { 'X-Key': 'other' }), http(ONE, { 'X-Key': KEEP })] }] }],
    ['in another spelling of the name', { Stop: [{ hooks: [http(ONE, { 'x-KEY': KEEP })] }] }],
    [
      'in several places',
      {
        Stop: [{ hooks: [http(ONE, { 'X-Key': KEEP }), http(ONE, { 'x-key': KEEP })] }],
        PreToolUse: [{ hooks: [http(ONE, { 'X-Key': KEEP })] }],
      },
    ],
  ])('keeps it %s', (_what, wanted) => {
    const values = Object.values(kept(wanted, stored))
      .flat()
      .flatMap((headers) => Object.values(headers ?? {}));
    expect(values.filter((value) => value !== 'other')).toEqual(values.filter((value) => value === 'old'));
    expect(values).toContain('old');
  });

  it.each<[string, HooksDocument, string]>([
    ['another URL', { Stop: [{ hooks: [http(TWO, { 'X-Key': KEEP })] }] }, 'hooks.Stop[0].hooks[0].headers.X-Key'],
    [
      'another query',
      { Stop: [{ hooks: [http(`${ONE}?a`, { 'X-Key': KEEP })] }] },
      'hooks.Stop[0].hooks[0].headers.X-Key',
    ],
    ['another name', { Stop: [{ hooks: [http(ONE, { 'X-Keys': KEEP })] }] }, 'hooks.Stop[0].hooks[0].headers.X-Keys'],
    [
      'one of two',
      { PreToolUse: [{ hooks: [tool, http(ONE, { 'X-Key': KEEP, Y: KEEP })] }] },
      'hooks.PreToolUse[0].hooks[1].headers.Y',
    ],
  ])('has none for %s', (_what, wanted, path) => {
    expect(() => kept(wanted, stored)).toThrow(`missing ${path}`);
  });

  it('is an ordinary value when the stored one is the same text', () => {
    expect(() => kept(stored, {})).not.toThrow();
    expect(() => kept({ Stop: [{ hooks: [http(ONE, { constructor: KEEP })] }] }, stored)).toThrow('missing');
  });
});

describe('two handlers with one URL and different values', () => {
  const two = (first: string, second: string): HttpHandler[] => [http(ONE, { K: first }), http(ONE, { K: second })];
  const stored: HooksDocument = { Stop: [{ hooks: two('a', 'b') }], PreToolUse: [{ hooks: [http(ONE, { K: 'c' })] }] };

  it('keep their own values, by their order within the event', () => {
    const wanted = { PreToolUse: [{ hooks: [http(ONE, { K: KEEP })] }], Stop: [{ hooks: two(KEEP, KEEP) }] };
    expect(kept(wanted, stored)).toMatchObject({ PreToolUse: [{ K: 'c' }], Stop: [{ K: 'a' }, { K: 'b' }] });
  });

  it('keep the second value when the request sets the first', () => {
    expect(kept({ Stop: [{ hooks: two('new', KEEP) }] }, stored).Stop).toEqual([{ K: 'new' }, { K: 'b' }]);
    expect(kept({ Stop: [{ hooks: two(KEEP, 'new') }] }, stored).Stop).toEqual([{ K: 'a' }, { K: 'new' }]);
  });

  it('give the first value to a third handler', () => {
    const wanted = { Stop: [{ hooks: [...two(KEEP, KEEP), http(ONE, { K: KEEP })] }] };
    expect(kept(wanted, stored).Stop).toEqual([{ K: 'a' }, { K: 'b' }, { K: 'a' }]);
  });
});
