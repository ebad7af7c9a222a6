import { beforeEach, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { HooksOf } from './hooks-of.js';

const service = useService();
let hooks: HooksOf;

beforeEach(async () => {
  hooks = await HooksOf.start(service);
  for (const app of ['tickets', 'a']) await hooks.attach(app);
});

const HOOK = { app: 'tickets', toolName: 'get_context', timeoutMs: 900, staticArgs: { region: 'eu', empty: '' } };
const LEAST = { app: 'a', toolName: 't' };

describe('the session-start hook', () => {
  it('answers 404 when there is none, and after it was removed', async () => {
    const none = [404, { statusCode: 404, error: 'not_found', message: expect.any(String) }];
    const first = await hooks.readSessionStart();
    expect([first.status, first.body]).toEqual(none);
    await hooks.putSessionStart(HOOK);
    const removed = await hooks.removeSessionStart();
    expect([removed.status, removed.text]).toEqual([204, '']);
    const again = await hooks.readSessionStart();
    expect([again.status, again.body]).toEqual(none);
    expect((await hooks.removeSessionStart()).status).toBe(204);
  });

  it.each<[string, object]>([
    ['with everything', HOOK],
    ['with the least', LEAST],
    ['with no arguments', { ...LEAST, staticArgs: {} }],
    ['with any positive time', { ...LEAST, timeoutMs: 1 }],
    ['with a long time, which no call takes', { ...LEAST, timeoutMs: 3_600_000 }],
    ['with odd texts', { ...LEAST, toolName: 'é\u{1f600}', staticArgs: { constructor: 'x', 'a.b': '<b>' } }],
  ])('is returned and read as it was sent: %s', async (_what, hook) => {
    const put = await hooks.putSessionStart(hook);
    expect([put.status, put.body]).toEqual([200, hook]);
    expect(put.headers.get('etag')).toBe('"2"');
    expect((await hooks.readSessionStart()).body).toEqual(hook);
  });

  it('is replaced as a whole, and the hooks document stays', async () => {
    const document = await hooks.set({
      Stop: [{ hooks: [{ type: 'http', url: 'https://a.example/', headers: { A: 'v' } }] }],
    });
    await hooks.rotate();
    await hooks.putSessionStart(HOOK);
    expect((await hooks.putSessionStart(LEAST)).status).toBe(200);
    expect((await hooks.readSessionStart()).body).toEqual(LEAST);
    expect((await hooks.removeSessionStart()).status).toBe(204);
    expect((await hooks.read()).body.hooks).toEqual(document);
    expect(await hooks.secrets()).toEqual(['headers', 'signing']);
  });

  it('is kept when the hooks document is removed', async () => {
    await hooks.putSessionStart(HOOK);
    await hooks.remove();
    expect((await hooks.readSessionStart()).body).toEqual(HOOK);
  });
});

describe('a session-start hook is refused, naming the field, and nothing is stored', () => {
  it.each<[string, object, string]>([
    ['no app', { toolName: 't' }, 'app'],
    ['an empty app', { ...LEAST, app: '' }, 'app'],
    ['an app that is no string', { ...LEAST, app: 7 }, 'app'],
    [
      'an app that the agent does not have',
      { ...LEAST, app: 'elsewhere' },
      "app must be the app of one of the agent's custom-mcp integrations, and 'elsewhere' is not",
    ],
    ['an app in another case', { ...LEAST, app: 'Tickets' }, "'Tickets'"],
    ['no tool', { app: 'a' }, 'toolName'],
    ['an empty tool', { ...LEAST, toolName: '' }, 'toolName'],
    ['a tool that is null', { ...LEAST, toolName: null }, 'toolName'],
    ...[0, -1, 1.5, 'x', '900', null, true].map((timeoutMs): [string, object, string] => [
      `timeoutMs ${JSON.stringify(timeoutMs)}`,
      { ...LEAST, timeoutMs },
      'timeoutMs',
    ]),
    ...[7, true, null, { a: 'b' }, ['x']].map((value): [string, object, string] => [
      `an argument ${JSON.stringify(value)}`,
      { ...LEAST, staticArgs: { a: value } },
      'staticArgs',
    ]),
    ['arguments that are a list', { ...LEAST, staticArgs: ['a'] }, 'staticArgs'],
    ['arguments that are null', { ...LEAST, staticArgs: null }, 'staticArgs'],
    ['an unknown field', { ...LEAST, timeout: 3 }, 'timeout'],
    ['a list', [LEAST], 'body'],
  ])('%s', async (_what, body, field) => {
    const { status, body: refusal } = await hooks.putSessionStart(body);
    expect([status, refusal]).toMatchObject([
      400,
      { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(field) },
    ]);
    expect((await hooks.readSessionStart()).status).toBe(404);
    expect(await hooks.versions()).toHaveLength(1);
  });
});

describe('access to the agent', () => {
  const routes = [{ method: 'GET' }, { method: 'PUT', body: LEAST }, { method: 'DELETE' }];

  it.each(routes)(
    '$method answers 404 for a classic agent and for one of another organization',
    async ({ method, body }) => {
      const classic = await service.agent(hooks.key);
      await service.cli('agent', 'set', classic, '--type', 'classic');
      const foreign = await service.agent((await service.organization()).key);
      for (const agentId of [classic, foreign]) {
        const { status, body: answer } = await service.http(method, `/v1/agents/${agentId}/session-start-hook`, {
          key: hooks.key,
          body,
        });
        expect([status, answer]).toMatchObject([
          404,
          { message: expect.stringMatching(/agent (was )?not|no such agent|agent/i) },
        ]);
      }
    },
  );

  it.each(routes)(
    '$method needs manageAgents for a write, and the agent in the allowlist',
    async ({ method, body }) => {
      await hooks.putSessionStart(HOOK);
      const { key } = await hooks.organization.keyWith(['chat']);
      const scoped = await hooks.organization.keyWith(['manageAgents'], [await service.agent(hooks.key)]);
      const unable = await hooks.ask(method, 'session-start-hook', { key }, body);
      const outside = await hooks.ask(method, 'session-start-hook', scoped, body);
      expect([unable.status, unable.body['code']]).toEqual(
        method === 'GET' ? [200, undefined] : [403, 'forbidden_by_key_role'],
      );
      expect([outside.status, outside.body['code']]).toEqual([403, 'forbidden_by_agent_allowlist']);
    },
  );
});
