import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LOCAL_APP, useAppCatalogue } from '../../support/app-catalogue.js';
import { useService } from '../../support/harness.js';
import { newId } from '../../../src/platform/ids/index.js';
import { HooksOf } from './hooks-of.js';

/** Listed in `EGRESS_ALLOW`, but without a server. */
const ALLOWED = '127.0.0.1:9';
const service = useService({ environment: { ...useAppCatalogue(), EGRESS_ALLOW: ALLOWED } });

const URL_OF_HOOK = 'https://hooks.example/in';
const http = (more: object = {}): object => ({ type: 'http', url: URL_OF_HOOK, ...more });
const tool = (more: object = {}): object => ({ type: 'mcp_tool', server: 'tickets', tool: 'guard', ...more });
const server = (app: string): object => ({
  ...{ type: 'custom-mcp', app, url: `http://${ALLOWED}/mcp`, transportType: 'streamableHttp' },
  ...{ auth: { type: 'none' } },
});

let hooks: HooksOf;
beforeAll(async () => {
  hooks = await HooksOf.start(service);
  await hooks.ask('POST', 'tool-integrations', {}, server('tickets'));
  await hooks.ask('POST', 'tool-integrations', {}, { type: 'managed-mcp', app: LOCAL_APP.slug });
  const other = await service.agent(hooks.key);
  await service.http('POST', `/v1/agents/${other}/tool-integrations`, { key: hooks.key, body: server('elsewhere') });
});
beforeEach(async () => {
  await hooks.remove();
});

describe('the document', () => {
  it('is empty when none was set', async () => {
    expect((await hooks.read()).text).toBe('{"hooks":{}}');
  });

  it('is returned and read as it was sent, with redacted header values', async () => {
    const sent = {
      Stop: [{ matcher: 'ignored (', hooks: [http({ timeout: 10 })] }],
      SessionStart: [{ matcher: 'startup', hooks: [http({ headers: {} })] }],
      PreToolUse: [
        {
          matcher: '',
          hooks: [http({ headers: { 'X-Key': 'canary', authorization: 'Bearer canary' }, failClosed: true })],
        },
        {
          matcher: 'mcp__.*',
          hooks: [
            tool({
              input: { a: '${tool_input.path}', b: [1, null, { c: 'é\u{1f600}' }] },
              timeout: 1,
              failClosed: false,
            }),
            tool(),
          ],
        },
      ],
      PostToolUse: [],
    };
    delete (sent.Stop[0] as { matcher?: string }).matcher;
    const shown = structuredClone(sent);
    Object.assign(shown.PreToolUse[0]?.hooks[0] ?? {}, {
      headers: { 'X-Key': '<redacted>', authorization: '<redacted>' },
    });
    const put = await hooks.put(sent);
    expect([put.status, put.body]).toEqual([200, { hooks: shown }]);
    expect(put.headers.get('etag')).toBe(`"${await hooks.version()}"`);
    expect((await hooks.read()).body).toEqual({ hooks: shown });
    expect((await hooks.put((await hooks.read()).body.hooks)).body).toEqual({ hooks: shown });
  });

  it('is replaced as a whole, and removed by DELETE, also when there is none', async () => {
    await hooks.set({ Stop: [{ hooks: [http()] }], PreToolUse: [{ hooks: [http()] }] });
    await hooks.set({ Stop: [{ hooks: [http({ timeout: 3 })] }] });
    expect((await hooks.read()).body.hooks).toEqual({ Stop: [{ hooks: [http({ timeout: 3 })] }] });
    const removals = [await hooks.remove(), await hooks.remove()].map(({ status, text }) => [status, text]);
    expect(removals).toEqual([
      [204, ''],
      [204, ''],
    ]);
    expect((await hooks.read()).body).toEqual({ hooks: {} });
  });

  it('without events removes all hooks', async () => {
    await hooks.set({ Stop: [{ hooks: [http()] }] });
    expect(await hooks.set({})).toEqual({});
  });
});

const many = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, n) => [`X-${n}`, 'v']));
const deep = { a: [{ b: 'x'.repeat(10_001) }] };
const headers = (value: unknown): object => ({ Stop: [{ hooks: [http({ headers: value })] }] });
const pre = (...all: readonly object[]): object => ({ PreToolUse: [{ hooks: [http(), ...all] }] });
const AT = 'hooks.PreToolUse[0].hooks[1]';
const HEADERS = 'hooks.Stop[0].hooks[0].headers';

describe('a document is refused, naming the path, and nothing is stored', () => {
  it.each<[string, unknown, string]>([
    ['an unknown event', { PreTool: [] }, 'hooks.PreTool '],
    ['an event in another case', { stop: [{ hooks: [http()] }] }, 'hooks.stop '],
    ['an event that is no array', { Stop: { hooks: [http()] } }, 'hooks.Stop '],
    ['a group without hooks', { Stop: [{ matcher: '*' }] }, 'hooks.Stop[0].hooks '],
    ['a group with empty hooks', { Stop: [{ hooks: [http()] }, { hooks: [] }] }, 'hooks.Stop[1].hooks '],
    ['an unknown field of a group', { Stop: [{ hooks: [http()], name: 'x' }] }, 'hooks.Stop[0].name '],
    ['a handler of an unknown type', pre({ type: 'command', command: 'x' }), `${AT}.type `],
    ['a handler without a type', pre({ url: URL_OF_HOOK }), `${AT}.type `],
    ['an unknown field of a handler', pre(http({ method: 'GET' })), `${AT}.method `],
    ['no url', pre({ type: 'http' }), `${AT}.url `],
    ['an http URL', pre(http({ url: 'http://hooks.example/in' })), `${AT}.url `],
    ['an http URL of another port than the allowed one', pre(http({ url: 'http://127.0.0.1:10/' })), `${AT}.url `],
    ['a URL with user info', pre(http({ url: 'https://user:word@hooks.example/' })), `${AT}.url `],
    ['a URL with a user', pre(http({ url: 'https://user@hooks.example/' })), `${AT}.url `],
    ['no URL at all', pre(http({ url: 'hooks.example/in' })), `${AT}.url `],
    ['a URL of another scheme', pre(http({ url: 'file:///etc/passwd' })), `${AT}.url `],
    ['an empty url', pre(http({ url: '' })), `${AT}.url `],
    ['a url that is no string', pre(http({ url: [URL_OF_HOOK] })), `${AT}.url `],
    [
      'a url of 10001 characters',
      pre(http({ url: `${URL_OF_HOOK}?${'x'.repeat(10_001 - URL_OF_HOOK.length - 1)}` })),
      `${AT}.url `,
    ],
    ['17 headers', headers(many(17)), `${HEADERS} `],
    ...['content-type', 'Content-Length', 'HOST', 'X-Hook-Event', 'Transfer-Encoding', 'connection'].map(
      (name): [string, unknown, string] => [`the header ${name}`, headers({ [name]: 'x' }), `${HEADERS}.${name} `],
    ),
    ['names of headers that differ by case only', headers({ 'X-Key': 'a', 'x-key': 'b' }), `${HEADERS}.x-key `],
    ['a header with a line break', headers({ 'X-Key': 'a\r\nX-Other: b' }), `${HEADERS}.X-Key `],
    ['a header beyond Latin-1', headers({ 'X-Key': 'ключ' }), `${HEADERS}.X-Key `],
    ['a header that is no string', headers({ 'X-Key': 1 }), `${HEADERS}.X-Key `],
    ['a header of a bad name', headers({ 'X Key': 'a' }), `${HEADERS}.X Key `],
    ['a redacted header without a stored value', headers({ 'X-Key': '<redacted>' }), `${HEADERS}.X-Key `],
    ...[0, 11, -1, 1.5, '3', null].map((timeout): [string, unknown, string] => [
      `the timeout ${JSON.stringify(timeout)}`,
      pre(http({ timeout })),
      `${AT}.timeout `,
    ]),
    ...['SessionStart', 'PostToolUse', 'Stop'].flatMap((event) =>
      [true, false].map((failClosed): [string, unknown, string] => [
        `failClosed ${failClosed} on ${event}`,
        { [event]: [{ hooks: [http({ failClosed })] }] },
        `hooks.${event}[0].hooks[0].failClosed `,
      ]),
    ),
    ['failClosed that is no boolean', pre(http({ failClosed: 'true' })), `${AT}.failClosed `],
    ['a ninth handler', { Stop: [{ hooks: Array(5).fill(http()) }, { hooks: Array(4).fill(http()) }] }, 'hooks.Stop '],
    ['a matcher that is no string', { Stop: [{ matcher: 7, hooks: [http()] }] }, 'hooks.Stop[0].matcher '],
    [
      'a matcher of 10001 characters',
      { PreToolUse: [{ matcher: 'x'.repeat(10_001), hooks: [http()] }] },
      'hooks.PreToolUse[0].matcher ',
    ],
    ...['(?=a)', '(a)\\1', '(a', 'a)', '[a', '*a', '(?<!b)c'].map((matcher): [string, unknown, string] => [
      `the matcher ${matcher}`,
      { Stop: [{ hooks: [http()] }], PreToolUse: [{ hooks: [http()] }, { matcher, hooks: [http()] }] },
      'hooks.PreToolUse[1].matcher ',
    ]),
    [
      'an invalid matcher of an event that ignores it',
      { Stop: [{ matcher: '(', hooks: [http()] }] },
      'hooks.Stop[0].matcher ',
    ],
    ['a tool without a server', pre({ type: 'mcp_tool', tool: 't' }), `${AT}.server `],
    ['a tool without a name', pre({ type: 'mcp_tool', server: 'tickets' }), `${AT}.tool `],
    [
      'a server that does not exist',
      pre(tool({ server: 'nowhere' })),
      `${AT}.server must be the app of one of the agent's custom-mcp integrations, and 'nowhere' is not`,
    ],
    ['a server in another case', pre(tool({ server: 'Tickets' })), `${AT}.server `],
    ["another agent's server", pre(tool({ server: 'elsewhere' })), `${AT}.server `],
    ['a managed app of the agent', pre(tool({ server: LOCAL_APP.slug })), `${AT}.server `],
    ['an input that is no object', pre(tool({ input: 'x' })), `${AT}.input `],
    ['a long string deep in the input', pre(tool({ input: deep })), `${AT}.input.a[0].b `],
    ['no object', [], 'hooks '],
    ['null', null, 'hooks '],
  ])('%s', async (_what, document, path) => {
    const before = await hooks.version();
    const { status, body } = await hooks.put(document);
    expect([status, body]).toEqual([
      400,
      { statusCode: 400, code: 'FST_ERR_VALIDATION', error: 'bad_request', message: expect.any(String) },
    ]);
    expect(body.message.slice(0, path.length)).toBe(path);
    expect((await hooks.read()).body).toEqual({ hooks: {} });
    expect([await hooks.version(), await hooks.secrets()]).toEqual([before, []]);
  });

  it.each<[string, unknown, RegExp]>([
    ['another property than hooks', { hooks: {}, version: 1 }, /version/],
    ['no hooks', {}, /hooks/],
  ])('with %s in the body', async (_what, body, message) => {
    const { status, body: refusal } = await hooks.ask('PUT', 'hooks', {}, body);
    expect([status, refusal]).toMatchObject([
      400,
      { code: 'FST_ERR_VALIDATION', message: expect.stringMatching(message) },
    ]);
  });

  it('keeps the stored document', async () => {
    const stored = await hooks.set({ Stop: [{ hooks: [http({ headers: { 'X-Key': 'v' } })] }] });
    expect((await hooks.put({ Stop: [{ hooks: [http({ url: 'http://x.example/' })] }] })).status).toBe(400);
    expect((await hooks.read()).body.hooks).toEqual(stored);
    expect(await hooks.secrets()).toEqual(['headers']);
  });
});

describe('a document is accepted', () => {
  const astral = '\u{1f600}'.repeat(10_000);
  it.each<[string, object]>([
    [
      'with 8 handlers of each event',
      Object.fromEntries(
        ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'].map((event) => [
          event,
          [{ hooks: Array(5).fill(http()) }, { hooks: Array(3).fill(http()) }],
        ]),
      ),
    ],
    ['with timeouts of 1 and 10', pre(http({ timeout: 1 }), http({ timeout: 10 }))],
    [
      'with strings of 10000 astral characters',
      { Stop: [{ hooks: [tool({ tool: astral, input: { a: [astral] } })] }] },
    ],
    ['with a matcher of 10000 characters', { PreToolUse: [{ matcher: `${'a|'.repeat(4_999)}ab`, hooks: [http()] }] }],
    ['with an http URL that the operator allows', pre(http({ url: `http://${ALLOWED}/in` }))],
    ['with a private address, which is refused at call time', pre(http({ url: 'https://10.0.0.1/' }))],
    [
      'with expressions in the syntax of RE2',
      {
        PreToolUse: ['^mcp__', 'a.*b', '(?i)read', '[a-z]+$', '\\bx\\b', 'a b'].map((matcher) => ({
          matcher,
          hooks: [http()],
        })),
      },
    ],
  ])('%s', async (_what, document) => {
    expect(await hooks.set(document)).toEqual(document);
    expect((await hooks.read()).body.hooks).toEqual(document);
  });

  it('with 16 headers', async () => {
    const shown = await hooks.set(headers(many(16)));
    expect(shown).toEqual(headers(Object.fromEntries(Object.keys(many(16)).map((name) => [name, '<redacted>']))));
  });
});

describe('access to the agent', () => {
  const routes = [
    { method: 'GET', path: 'hooks' },
    { method: 'PUT', path: 'hooks', body: { hooks: {} } },
    { method: 'DELETE', path: 'hooks' },
    { method: 'POST', path: 'hooks/secret' },
    { method: 'POST', path: 'hooks/test', body: { event: 'Stop' } },
  ];

  it.each(routes)(
    '$method $path answers 404 for a classic agent, one of another organization and one that does not exist',
    async ({ method, path, body }) => {
      const { key } = hooks;
      const classic = await service.agent(key);
      await service.cli('agent', 'set', classic, '--type', 'classic');
      const stranger = await service.organization();
      const foreign = await service.agent(stranger.key);
      const answers = await Promise.all(
        [classic, foreign, newId()].map(
          async (agentId) => (await service.http(method, `/v1/agents/${agentId}/${path}`, { key, body })).status,
        ),
      );
      expect(answers).toEqual([404, 404, 404]);
    },
  );

  it.each(routes)(
    '$method $path wants manageAgents for a write and the agent in the allowlist',
    async ({ method, path, body }) => {
      const { key } = await hooks.organization.keyWith(['chat']);
      const scoped = await hooks.organization.keyWith(['manageAgents'], [await service.agent(hooks.key)]);
      const [unable, outside] = [
        await hooks.ask(method, path, { key }, body),
        await hooks.ask(method, path, scoped, body),
      ];
      expect([unable.status, unable.body['code']]).toEqual(
        method === 'GET' ? [200, undefined] : [403, 'forbidden_by_key_role'],
      );
      expect([outside.status, outside.body['code']]).toEqual([403, 'forbidden_by_agent_allowlist']);
    },
  );
});
