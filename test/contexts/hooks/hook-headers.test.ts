import { beforeEach, describe, expect, it } from '@jest/globals';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import { HooksOf, rowsOutsideVault } from './hooks-of.js';
import { group, setHooks, useHookServer, useHookService } from './support.js';

const service = useHookService();
const server = useHookServer();

const KEEP = '<redacted>';
let tests = 0;
/** Unique for each test, because the tests share a database. */
let secret: string;
let path: string;
let hooks: HooksOf;

beforeEach(async () => {
  tests += 1;
  secret = `canary-${tests}-of-headers`;
  path = `/headers/${tests}`;
  hooks = await HooksOf.start(service);
});

const http = (headers: Readonly<Record<string, string>>, at = path, more: object = {}): object => ({
  type: 'http',
  url: server.url(at),
  headers,
  ...more,
});
const stop = (...handlers: readonly object[]): object => ({ Stop: [{ hooks: handlers }] });

/** The values of a header in the requests to a path, in handler order. */
async function sent(event = 'Stop', name = 'x-key', at = path): Promise<readonly unknown[]> {
  const before = server.received.length;
  const { status } = await hooks.test({ event });
  expect(status).toBe(200);
  const calls = server.received.slice(before).filter((call) => call.path === at);
  return calls.map(({ headers }) => headers[name]);
}

describe('the value of a header', () => {
  it('is sent with each call, and no response contains it', async () => {
    server.url(path, ({ headers }) => ({
      additionalContext: `You sent ${headers.authorization} and ${JSON.stringify(headers)}`,
    }));
    const talk = await Talk.start(service);
    const document = {
      UserPromptSubmit: [group([http({ Authorization: `Bearer ${secret}`, 'X-Empty-Like': ' ~'.trim() })])],
    };
    await setHooks(service, talk, document);
    service.models.next(says('Hello'));
    const answers: unknown[] = [(await talk.run('Hi')).text];
    expect(server.of(path)[0]?.headers).toMatchObject({ authorization: `Bearer ${secret}`, 'x-empty-like': '~' });
    const agent = `/v1/agents/${talk.agentId}`;
    for (const at of ['hooks', 'versions', '', 'traces'])
      answers.push((await service.http('GET', `${agent}/${at}`.replace(/\/$/, ''), talk)).text);
    answers.push((await service.http('PUT', `${agent}/hooks`, { key: talk.key, body: { hooks: document } })).text);
    answers.push(
      (await service.http('POST', `${agent}/hooks/test`, { key: talk.key, body: { event: 'UserPromptSubmit' } })).text,
    );
    answers.push(await talk.trace(), await talk.messages(), service.models.requests, await rowsOutsideVault(service));
    expect(answers.map((answer) => JSON.stringify(answer).includes(secret))).toEqual(answers.map(() => false));
    expect(JSON.stringify(service.models.requests)).toContain('You sent [redacted]');
  });

  it('is removed when the endpoint repeats it where its response is cut', async () => {
    server.url(path, () => ({ additionalContext: `${'x'.repeat(10_000 - secret.length + 1)}${secret}` }));
    await hooks.set(stop(http({ 'X-Key': secret })));
    const { text } = await hooks.test({ event: 'Stop' });
    expect(text).toContain('xxx');
    expect(text).not.toContain('canary');
  });

  it.each([
    ['reason', (text: string) => ({ decision: 'block', reason: text })],
    [
      'permissionDecisionReason',
      (text: string) => ({ hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: text } }),
    ],
    ['an answer that is no JSON', (text: string) => text],
    ['a field of another kind', (text: string) => ({ decision: text })],
  ])('is removed from %s', async (_what, answer) => {
    server.url(path, ({ headers }) => answer(String(headers.authorization)));
    await hooks.set({ PreToolUse: [{ hooks: [http({ Authorization: `Bearer ${secret}` })] }] });
    const { text, body } = await hooks.test({ event: 'PreToolUse' });
    expect(body.results).toHaveLength(1);
    expect(text).not.toContain(secret);
  });

  it('is stored only in the vault, and deleted with the hooks', async () => {
    await hooks.set(stop(http({ 'X-Key': secret })));
    expect(await hooks.secrets()).toEqual(['headers']);
    await hooks.set(stop({ type: 'http', url: server.url(path) }));
    expect(await hooks.secrets()).toEqual([]);
    await hooks.set(stop(http({ 'X-Key': secret })));
    await hooks.remove();
    expect(await hooks.secrets()).toEqual([]);
    expect((await hooks.put(stop(http({ 'X-Key': KEEP })))).status).toBe(400);
  });

  it('is deleted with the agent, as are its hooks', async () => {
    await hooks.set(stop(http({ 'X-Key': secret })));
    await hooks.rotate();
    expect(await hooks.secrets()).toEqual(['headers', 'signing']);
    await service.http('DELETE', `/v1/agents/${hooks.agentId}`, hooks);
    expect(await hooks.secrets()).toEqual([]);
    expect(await service.database.query('select 1 from agent_hooks where agent_id = $1', [hooks.agentId])).toEqual([]);
  });
});

describe('a redacted value', () => {
  beforeEach(() => hooks.set(stop(http({ 'X-Key': secret }))));

  it.each<[string, string, () => object]>([
    ['as it is', 'Stop', () => stop(http({ 'X-Key': KEEP }))],
    [
      'in another group',
      'Stop',
      () => ({ Stop: [{ hooks: [http({}, '/other')] }, { hooks: [http({ 'X-Key': KEEP })] }] }),
    ],
    ['in another event', 'PreToolUse', () => ({ PreToolUse: [{ hooks: [http({ 'X-Key': KEEP })] }] })],
    [
      'in another order',
      'Stop',
      () => stop(http({ 'X-Key': 'other' }, '/other'), http({ 'X-Other': 'x', 'X-Key': KEEP })),
    ],
    ['in another spelling', 'Stop', () => stop(http({ 'x-KEY': KEEP }))],
  ])('keeps the stored value of its URL and name: %s', async (_what, event, document) => {
    await hooks.set(document());
    expect(await sent(event)).toEqual([secret]);
  });

  it('is refused for another URL or name, and the stored values stay', async () => {
    for (const handler of [
      http({ 'X-Key': KEEP }, `${path}/other`),
      http({ 'X-Key': KEEP }, `${path}?q`),
      http({ 'X-Keys': KEEP }),
    ]) {
      const { status, body } = await hooks.put(stop(handler));
      expect([status, body.message]).toEqual([
        400,
        expect.stringMatching(/^hooks\.Stop\[0\]\.hooks\[0\]\.headers\.X-Keys? /),
      ]);
    }
    expect(await sent()).toEqual([secret]);
  });

  it('keeps the value of each of two handlers with one URL', async () => {
    const two = (first: string, second: string): object => stop(http({ 'X-Key': first }), http({ 'X-Key': second }));
    await hooks.set(two('first', 'second'));
    await hooks.set(two(KEEP, KEEP));
    expect([...(await sent())].sort()).toEqual(['first', 'second']);
    await hooks.set(two(KEEP, 'third'));
    expect([...(await sent())].sort()).toEqual(['first', 'third']);
  });

  it('is not the stored value of another agent', async () => {
    const other = await HooksOf.start(service);
    expect((await other.put(stop(http({ 'X-Key': KEEP })))).status).toBe(400);
  });
});

describe('a secret that cannot be decrypted', () => {
  const spoil = (field: string): Promise<unknown> =>
    service.database.query('update secrets set ciphertext = $1 where record_id = $2 and field like $3', [
      Buffer.from('nonsense'),
      hooks.agentId,
      `hooks.${field}%`,
    ]);
  const guard = (headers: Readonly<Record<string, string>>): object => ({
    UserPromptSubmit: [{ hooks: [http(headers, path, { failClosed: true })] }],
  });

  it('makes the handlers fail, which blocks when they fail closed; setting new values repairs them', async () => {
    await hooks.set(guard({ 'X-Key': secret }));
    await spoil('headers');
    const failed = {
      outcome: 'failed',
      verdict: { decision: 'block' },
      error: expect.stringMatching(/can no longer be decrypted/),
    };
    expect((await hooks.test({ event: 'UserPromptSubmit' })).body.results).toMatchObject([failed]);
    expect(server.of(path)).toEqual([]);
    expect((await hooks.put(guard({ 'X-Key': KEEP }))).status).toBe(400);
    await hooks.set(guard({ 'X-Key': 'mended' }));
    expect(await sent('UserPromptSubmit')).toEqual(['mended']);
  });

  it('blocks a run, too', async () => {
    await hooks.set(guard({ 'X-Key': secret }));
    await spoil('headers');
    const thread = await service.thread(hooks.key, hooks.agentId);
    const body = { message: { role: 'user', content: 'Hi' } };
    const run = await service.http<{ message: object }>('POST', `/v1/threads/${thread}/runs`, { key: hooks.key, body });
    expect(run.body.message).toMatchObject({ blocked: true });
    expect(service.models.requests).toEqual([]);
  });

  it('for the signature leaves the values of headers as they are, and vice versa', async () => {
    await hooks.set(guard({ 'X-Key': secret }));
    await hooks.rotate();
    await spoil('signing');
    expect((await hooks.put(guard({ 'X-Key': KEEP, 'X-New': 'new' }))).status).toBe(200);
    expect((await hooks.test({ event: 'UserPromptSubmit' })).body.results).toMatchObject([{ outcome: 'failed' }]);
    await hooks.rotate();
    expect(await sent('UserPromptSubmit')).toEqual([secret]);
    await spoil('headers');
    const before = server.of(path).at(-1)?.headers['webhook-signature'];
    await hooks.rotate();
    await hooks.set(guard({ 'X-Key': 'mended' }));
    expect(await sent('UserPromptSubmit')).toEqual(['mended']);
    const after = String(server.of(path).at(-1)?.headers['webhook-signature']);
    expect(before).toMatch(/^v1,\S+$/);
    expect(after).toMatch(/^v1,\S+ v1,\S+$/);
  });

  it('is removed by a document without headers', async () => {
    await hooks.set(guard({ 'X-Key': secret }));
    await spoil('headers');
    await hooks.remove();
    expect(await hooks.secrets()).toEqual([]);
  });
});
