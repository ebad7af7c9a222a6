import { beforeEach, describe, expect, it } from '@jest/globals';
import { customServer } from '../../support/tool-runs.js';
import { HooksOf } from './hooks-of.js';
import { useHookServer, useHookService } from './support.js';

const service = useHookService();
const server = useHookServer();

const KEEP = '<redacted>';
const CHANGED = { before: KEEP, after: KEEP };
const START = { app: 'starts', toolName: 'begin' };
let hooks: HooksOf;

beforeEach(async () => {
  hooks = await HooksOf.start(service);
  await hooks.attach('starts');
});

const http = (more: object = {}): object => ({ type: 'http', url: server.url('/versions'), ...more });
const keyed = (value: string): object => http({ headers: { 'X-Key': value } });
const groups = (...handlers: readonly object[]): object[] => [{ hooks: handlers }];

/** The changes of the newest version, which must have the expected number. */
async function newest(version: number): Promise<readonly object[] | undefined> {
  const [first] = await hooks.versions();
  expect(first?.version).toBe(version);
  return first?.changes;
}

describe('a change of the hooks', () => {
  it('creates one version with a change for each event', async () => {
    await hooks.set({ Stop: groups(http()), PreToolUse: groups(http({ timeout: 1 })) });
    expect(await newest(2)).toEqual([
      { field: 'hooks.PreToolUse', before: null, after: groups(http({ timeout: 1 })) },
      { field: 'hooks.Stop', before: null, after: groups(http()) },
    ]);
    await hooks.set({ Stop: groups(http({ timeout: 2 })), PreToolUse: groups(http({ timeout: 1 })) });
    expect(await newest(3)).toEqual([
      { field: 'hooks.Stop', before: groups(http()), after: groups(http({ timeout: 2 })) },
    ]);
    await hooks.remove();
    expect(await newest(4)).toEqual([
      { field: 'hooks.PreToolUse', before: groups(http({ timeout: 1 })), after: null },
      { field: 'hooks.Stop', before: groups(http({ timeout: 2 })), after: null },
    ]);
  });

  it('of the value of a header creates one version without the value', async () => {
    await hooks.set({ Stop: groups(keyed('canary-1')) });
    expect(await newest(2)).toEqual([{ field: 'hooks.Stop', before: null, after: groups(keyed(KEEP)) }]);
    await hooks.set({ Stop: groups(keyed('canary-2')) });
    expect(await newest(3)).toEqual([{ field: 'hooks.Stop.headers', ...CHANGED }]);
    await hooks.rotate();
    expect(await newest(4)).toEqual([{ field: 'hooks.signingSecret', ...CHANGED }]);
    expect(JSON.stringify(await hooks.versions())).not.toMatch(/canary|whsec/);
  });

  it('that changes nothing creates no version', async () => {
    await hooks.remove();
    await hooks.set({});
    await hooks.set({ Stop: groups(keyed('one'), keyed('two')), PreToolUse: [] });
    for (const value of [
      [KEEP, KEEP],
      ['one', 'two'],
      [KEEP, 'two'],
    ]) {
      const put = await hooks.put({ PreToolUse: [], Stop: groups(...value.map(keyed)) });
      expect([put.status, put.headers.get('etag')]).toEqual([200, '"2"']);
    }
    expect(await hooks.version()).toBe(2);
  });

  it('that removes an event without groups creates a version', async () => {
    await hooks.set({ Stop: [] });
    expect(await newest(2)).toEqual([{ field: 'hooks.Stop', before: null, after: [] }]);
    await hooks.set({});
    expect(await newest(3)).toEqual([{ field: 'hooks.Stop', before: [], after: null }]);
  });
});

describe('a change of the session-start hook', () => {
  it('creates one version, and none when it changes nothing', async () => {
    await hooks.removeSessionStart();
    await hooks.putSessionStart(START);
    expect(await newest(2)).toEqual([{ field: 'sessionStartHook', before: null, after: START }]);
    await hooks.putSessionStart({ toolName: 'begin', app: 'starts' });
    const next = { ...START, timeoutMs: 5, staticArgs: { a: 'b' } };
    await hooks.putSessionStart(next);
    expect(await newest(3)).toEqual([{ field: 'sessionStartHook', before: START, after: next }]);
    await hooks.removeSessionStart();
    expect(await newest(4)).toEqual([{ field: 'sessionStartHook', before: next, after: null }]);
  });
});

describe('restoring a version', () => {
  it('restores the document and the session-start hook, and removes both', async () => {
    await hooks.set({ Stop: groups(keyed('kept')) });
    await hooks.putSessionStart(START);
    await hooks.set({ Stop: groups(keyed(KEEP), http()), PreToolUse: groups(http()) });
    await hooks.removeSessionStart();
    expect((await hooks.restore(3)).body.version).toBe(6);
    expect((await hooks.read()).body.hooks).toEqual({ Stop: groups(keyed(KEEP)) });
    expect((await hooks.readSessionStart()).body).toEqual(START);
    expect((await newest(6))?.map((change) => Reflect.get(change, 'field') as unknown).sort()).toEqual([
      'hooks.PreToolUse',
      'hooks.Stop',
      'sessionStartHook',
    ]);
    await hooks.test({ event: 'Stop' });
    expect(server.received.at(-1)?.headers['x-key']).toBe('kept');
    expect((await hooks.restore(1)).status).toBe(200);
    expect((await hooks.read()).body.hooks).toEqual({});
    expect((await hooks.readSessionStart()).status).toBe(404);
    expect((await hooks.restore(5)).status).toBe(422);
  });

  it('keeps the values of headers and the signing secret', async () => {
    await hooks.set({ Stop: groups(keyed('old')) });
    await hooks.set({ Stop: groups(keyed('new')), PreToolUse: groups(http()) });
    await hooks.rotate();
    const before = await hooks.secrets();
    expect((await hooks.restore(2)).status).toBe(200);
    expect(await hooks.secrets()).toEqual(before);
    await hooks.test({ event: 'Stop' });
    expect(server.received.at(-1)?.headers).toMatchObject({
      'x-key': 'new',
      'webhook-signature': expect.stringMatching(/^v1,/),
    });
  });

  it('is refused when the value of a header was deleted, and changes nothing', async () => {
    await hooks.set({ Stop: groups(keyed('gone')) });
    await hooks.putSessionStart(START);
    await hooks.set({ Stop: groups(http()) });
    await hooks.removeSessionStart();
    const refused = await hooks.restore(3);
    expect([refused.status, refused.body]).toMatchObject([
      422,
      { code: 'version_not_restorable', message: expect.stringContaining('hooks.Stop[0].hooks[0].headers.X-Key') },
    ]);
    expect((await hooks.read()).body.hooks).toEqual({ Stop: groups(http()) });
    expect((await hooks.readSessionStart()).status).toBe(404);
    expect([await hooks.version(), await hooks.secrets()]).toEqual([5, []]);
    await hooks.set({ PreToolUse: groups(keyed('again')) });
    expect((await hooks.restore(3)).status).toBe(200);
    expect((await hooks.readSessionStart()).body).toEqual(START);
  });

  it('is refused when a server was deleted, and changes nothing', async () => {
    const attach = () =>
      hooks.ask<{ id: string }>('POST', 'tool-integrations', {}, customServer({ url: 'http://127.0.0.1:9/mcp' }));
    const { body } = await attach();
    const guard = { type: 'mcp_tool', server: 'tickets', tool: 'guard' };
    await hooks.set({ Stop: groups(keyed('kept')), PreToolUse: groups(guard) });
    const version = await hooks.version();
    await hooks.set({ Stop: groups(keyed(KEEP)) });
    await hooks.ask('DELETE', `tool-integrations/${body.id}`);
    const refused = await hooks.restore(version);
    expect([refused.status, refused.body]).toMatchObject([
      422,
      { code: 'version_not_restorable', message: expect.stringContaining('tickets') },
    ]);
    expect((await hooks.read()).body.hooks).toEqual({ Stop: groups(keyed(KEEP)) });
    await attach();
    expect((await hooks.restore(version)).status).toBe(200);
    expect((await hooks.read()).body.hooks).toEqual({ Stop: groups(keyed(KEEP)), PreToolUse: groups(guard) });
  });
});

describe('restoring a version with a session-start hook', () => {
  it('is refused when its app was deleted, and changes nothing', async () => {
    const attach = () =>
      hooks.ask<{ id: string }>('POST', 'tool-integrations', {}, customServer({ url: 'http://127.0.0.1:9/mcp' }));
    const { body } = await attach();
    const start = { ...START, app: 'tickets' };
    await hooks.putSessionStart(start);
    const version = await hooks.version();
    await hooks.removeSessionStart();
    await hooks.ask('DELETE', `tool-integrations/${body.id}`);
    const refused = await hooks.restore(version);
    expect([refused.status, refused.body]).toMatchObject([
      422,
      { code: 'version_not_restorable', message: expect.stringContaining("'tickets'") },
    ]);
    expect((await hooks.readSessionStart()).status).toBe(404);
    await attach();
    expect((await hooks.restore(version)).status).toBe(200);
    expect((await hooks.readSessionStart()).body).toEqual(start);
  });
});

describe('concurrent writes', () => {
  const stale = { headers: { 'if-match': '"1"' } };

  it('are refused when If-Match is stale, and change nothing', async () => {
    await hooks.set({ Stop: groups(keyed('kept')) });
    await hooks.putSessionStart(START);
    const answers = [
      ...[await hooks.put({}, stale), await hooks.remove(stale), await hooks.rotate(stale)],
      ...[await hooks.putSessionStart({ app: 'x', toolName: 'y' }, stale), await hooks.removeSessionStart(stale)],
    ];
    expect(answers.map(({ status, body }) => [status, Reflect.get(body, 'code') as unknown])).toEqual(
      answers.map(() => [409, 'version_conflict']),
    );
    expect([await hooks.version(), await hooks.secrets()]).toEqual([3, ['headers']]);
    const current = { headers: { 'if-match': '"3"' } };
    expect((await hooks.put({ Stop: groups(keyed(KEEP), http()) }, current)).status).toBe(200);
  });

  it('end with one of the documents and its header values', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const documents = names.map((name) => ({
      Stop: groups(http({ headers: { [`X-${name}`]: name } })),
      PreToolUse: groups(http({ timeout: 1 + names.indexOf(name) })),
    }));
    const answers = await Promise.all(documents.map((document) => hooks.put(document)));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    const stored = (await hooks.read()).body.hooks;
    const last = answers.find(({ headers }) => headers.get('etag') === `"${names.length + 1}"`);
    expect(stored).toEqual(last?.body.hooks);
    await hooks.test({ event: 'Stop' });
    const sent = server.received.at(-1)?.headers ?? {};
    expect(names.filter((name) => sent[`x-${name}`] !== undefined)).toEqual(
      names.filter((name) => JSON.stringify(stored).includes(`X-${name}`)),
    );
  });
});
