import { describe, expect, it } from '@jest/globals';
import { computingMs, computingUnits } from '../../../test/support/computing-time.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { readDocument } from './read-document.js';

const ACCEPTED = 'https://a.example/';
const urlCheck = (url: string): string | undefined => (url === ACCEPTED ? undefined : 'The URL is not valid.');
const read = (value: unknown) => readDocument(value, urlCheck);

function complaint(value: unknown): string {
  try {
    read(value);
    return 'none';
  } catch (error) {
    if (!(error instanceof ValidationFailed)) throw error;
    return error.message;
  }
}

const http = (more: object = {}): object => ({ type: 'http', url: ACCEPTED, ...more });
const tool = (more: object = {}): object => ({ type: 'mcp_tool', server: 's', tool: 't', ...more });
const pre = (...hooks: readonly unknown[]): object => ({ PreToolUse: [{ hooks }] });

describe('a document', () => {
  it('may be empty, and an event may have no groups', () => {
    expect(read({}).document).toEqual({});
    expect(read({ Stop: [] }).document).toEqual({ Stop: [] });
  });

  it('is read in the order of the request, without the values of headers', () => {
    const sent = {
      Stop: [{ hooks: [http()] }],
      PreToolUse: [
        {
          matcher: 'a|b',
          hooks: [
            http({ headers: { 'X-Key': 'secret' }, timeout: 10, failClosed: true }),
            tool({ input: { a: '${prompt}' } }),
          ],
        },
      ],
    };
    const { document, headers } = read(sent);
    const redacted = structuredClone(sent);
    Object.assign(redacted.PreToolUse[0]?.hooks[0] ?? {}, { headers: { 'X-Key': '<redacted>' } });
    expect(JSON.stringify(document)).toBe(
      JSON.stringify({
        Stop: redacted.Stop,
        PreToolUse: [
          {
            matcher: 'a|b',
            hooks: [
              { type: 'http', url: ACCEPTED, headers: { 'X-Key': '<redacted>' }, timeout: 10, failClosed: true },
              { type: 'mcp_tool', server: 's', tool: 't', input: { a: '${prompt}' } },
            ],
          },
        ],
      }),
    );
    expect(headers.PreToolUse).toEqual([{ 'X-Key': 'secret' }, null]);
  });

  it.each(['failClosed', 'timeout'])('contains only fields of the request: no %s', (name) => {
    expect(JSON.stringify(read(pre(http(), tool())).document)).not.toContain(name);
  });
});

describe('a fault is named by its path', () => {
  const wide = Array.from({ length: 9 }, () => http());
  const headers = (value: unknown): object => pre(http({ headers: value }));
  it.each<[string, unknown, string]>([
    ['no object', 7, 'hooks '],
    ['a list', [], 'hooks '],
    ['null', null, 'hooks '],
    ['nothing', undefined, 'hooks is required'],
    ['an event that is none', { Nothing: [] }, 'hooks.Nothing '],
    ['an inherited event', JSON.parse('{"constructor":[]}'), 'hooks.constructor '],
    ['an event that is no list', { Stop: {} }, 'hooks.Stop '],
    ['an event that is null', { Stop: null }, 'hooks.Stop '],
    ['more groups than handlers may be', { Stop: Array(9).fill(null) }, 'hooks.Stop '],
    ['a group that is no object', { Stop: [7] }, 'hooks.Stop[0] '],
    ['a group without hooks', { Stop: [{}] }, 'hooks.Stop[0].hooks '],
    ['a group with no hooks', { Stop: [{ hooks: [] }] }, 'hooks.Stop[0].hooks '],
    ['a field of a group', { Stop: [{ hooks: [http()], more: 1 }] }, 'hooks.Stop[0].more '],
    ['nine in one group', { Stop: [{ hooks: wide }] }, 'hooks.Stop '],
    ['nine over two', { Stop: [{ hooks: wide.slice(1) }, { hooks: [http()] }] }, 'hooks.Stop '],
    ['a matcher', { Stop: [{ matcher: 7, hooks: [http()] }] }, 'hooks.Stop[0].matcher '],
    ['a matcher that is null', { Stop: [{ matcher: null, hooks: [http()] }] }, 'hooks.Stop[0].matcher '],
    ['a handler that is no object', pre('x'), 'hooks.PreToolUse[0].hooks[0] '],
    ['a handler of no type', pre({ url: ACCEPTED }), 'hooks.PreToolUse[0].hooks[0].type '],
    ['a handler of an inherited type', pre({ type: 'toString' }), 'hooks.PreToolUse[0].hooks[0].type '],
    ['a field of a tool on http', pre(http(), http({ tool: 't' })), 'hooks.PreToolUse[0].hooks[1].tool '],
    ['a field of http on a tool', pre(tool({ url: ACCEPTED })), 'hooks.PreToolUse[0].hooks[0].url '],
    ['a URL', pre(http({ url: 'ftp://x' })), 'hooks.PreToolUse[0].hooks[0].url '],
    ['no URL', pre({ type: 'http' }), 'hooks.PreToolUse[0].hooks[0].url is required'],
    ['headers that are a list', headers([]), 'hooks.PreToolUse[0].hooks[0].headers '],
    ['headers that are null', headers(null), 'hooks.PreToolUse[0].hooks[0].headers '],
    ['a header with a number', headers({ A: 1 }), 'hooks.PreToolUse[0].hooks[0].headers.A '],
    ['a header with nothing', headers({ A: '' }), 'hooks.PreToolUse[0].hooks[0].headers.A '],
    ['a header of a bad name', headers({ 'A B': 'x' }), 'hooks.PreToolUse[0].hooks[0].headers.A B '],
    ['a header without a name', headers({ '': 'x' }), 'hooks.PreToolUse[0].hooks[0].headers. '],
    ['an input that is a list', pre(tool({ input: [] })), 'hooks.PreToolUse[0].hooks[0].input '],
    [
      'a long string in a list of the input',
      pre(tool({ input: { a: ['x', 'y'.repeat(10_001)] } })),
      'hooks.PreToolUse[0].hooks[0].input.a[1] ',
    ],
    [
      'a long name in the input',
      pre(tool({ input: { a: { ['y'.repeat(10_001)]: 1 } } })),
      'hooks.PreToolUse[0].hooks[0].input.a ',
    ],
    ['a server that is empty', pre(tool({ server: '' })), 'hooks.PreToolUse[0].hooks[0].server '],
    ['a tool that is too long', pre(tool({ tool: 'x'.repeat(10_001) })), 'hooks.PreToolUse[0].hooks[0].tool '],
    ['a timeout of text', pre(tool({ timeout: '3' })), 'hooks.PreToolUse[0].hooks[0].timeout '],
    ['a timeout of null', pre(tool({ timeout: null })), 'hooks.PreToolUse[0].hooks[0].timeout '],
    [
      'failClosed false for an event that always fails open',
      { Stop: [{ hooks: [tool({ failClosed: false })] }] },
      'hooks.Stop[0].hooks[0].failClosed ',
    ],
  ])('%s', (_what, value, path) => {
    expect(complaint(value).startsWith(path)).toBe(true);
  });

  it('with a message of bounded length', () => {
    const long = 'x'.repeat(100_000);
    for (const value of [
      { [long]: [] },
      { Stop: [{ [long]: 1 }] },
      pre(http({ [long]: 1 })),
      headers({ [long]: 'x' }),
      pre(tool({ input: { [long.slice(0, 9_999)]: long } })),
    ]) {
      expect(complaint(value)).not.toBe('none');
      expect(complaint(value).length).toBeLessThan(500);
    }
  });
});

describe('a handler that is larger than allowed is refused without reading all of it', () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`x-${index}`, 'v']));
  it.each<[string, object]>([
    ['too many headers', http({ headers: many })],
    ['a URL that is too long', http({ url: `${ACCEPTED}${'a'.repeat(4_000_000)}` })],
  ])('%s', (_what, handler) => {
    expect(complaint(pre(handler))).toMatch(/must (have at most 16 entries|be a string of 1 to 10000 characters)$/);
    expect(computingUnits(() => complaint(pre(handler)))).toBeLessThan(0.5);
  });
});

describe('the input of a tool', () => {
  it('allows strings of 10000 characters, however many bytes they have', () => {
    const input = { a: ['\u{1f600}'.repeat(10_000)], b: { c: 'x'.repeat(10_000) } };
    expect(read(pre(tool({ input }))).document.PreToolUse?.[0]?.hooks[0]).toMatchObject({ input });
  });
});

describe('the inputs of a document', () => {
  const list = (count: number): object => tool({ input: { list: Array.from({ length: count }, () => 1) } });
  const texts = (count: number): object =>
    tool({ input: { list: Array.from({ length: count }, () => 'x'.repeat(10_000)) } });
  // Each input, and the list in it, counts as a value.
  it('have at most 10000 values together', () => {
    expect(complaint({ PreToolUse: [{ hooks: [list(4_998)] }], Stop: [{ hooks: [list(4_998)] }] })).toBe('none');
    expect(complaint({ PreToolUse: [{ hooks: [list(4_998)] }], Stop: [{ hooks: [http(), list(4_999)] }] })).toMatch(
      /^hooks\.Stop\[0\]\.hooks\[1\]\.input must not have more than 10000 values/,
    );
  });

  it('have at most 1000000 characters together, including field names', () => {
    expect(complaint(pre(texts(50), texts(49)))).toBe('none');
    expect(complaint(pre(texts(50), texts(50)))).toMatch(
      /^hooks\.PreToolUse\[0\]\.hooks\[1\]\.input must not have more than 1000000 characters/,
    );
    expect(complaint(pre(tool({ input: { ['n'.repeat(1_000_001)]: 1 } })))).toMatch(/1000000 characters/);
  });

  it('are refused at the first value beyond the limit, without reading the rest', () => {
    const wide = Array.from({ length: 20_000 }, () => ({ a: { b: {} } }));
    expect(computingMs(() => complaint(pre(tool({ input: { wide } }))))).toBeLessThan(50);
  });
});
