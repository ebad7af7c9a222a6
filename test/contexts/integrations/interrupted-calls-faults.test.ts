import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { answerText, type LyingCall, LyingToolServer } from '../../support/lying-tool-server.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import { attach, customServer, echoOf, integrationsPath, modelRead, usesTools } from '../../support/tool-runs.js';
import { until } from '../../support/until.js';
import type { IntegrationView } from './support.js';

const service = useService({ egressAllow: new LoopbackPorts() });
const ECHO = echoOf('tickets');

let server: LyingToolServer;
let other: LyingToolServer;
let talk: Talk;
let integration: IntegrationView;
let held: LyingCall[];

beforeEach(async () => {
  [server, other] = [await LyingToolServer.start(), await LyingToolServer.start()];
  talk = await Talk.start(service);
  integration = await attach(service, talk, { url: server.url });
  held = [];
});
afterEach(async () => {
  await server.close();
  await other.close();
});

/** Makes the server delay its answers. */
function hold(): void {
  server.answer('tools/call', (call) => held.push(call));
}

function release(): void {
  server.answer('tools/call', (call) => answerText(call, 'done'));
  for (const call of held.splice(0)) answerText(call, 'done');
}

async function underWay(count = 1): Promise<void> {
  await until(() => held.length === count, `${count} calls are under way`);
}

async function startCalls(...on: readonly Talk[]): Promise<ReturnType<Talk['run']>[]> {
  hold();
  const runs: ReturnType<Talk['run']>[] = [];
  for (const each of on) {
    service.models.next(...usesTools(ECHO).slice(0, 1));
    runs.push(each.run('Go'));
    await underWay(runs.length);
  }
  return runs;
}

async function nextRun(on = talk): Promise<void> {
  service.models.next(...usesTools(ECHO));
  expect(await on.run('Again')).toMatchObject({ body: { run: { status: 'completed' } } });
}

const path = (): string => `${integrationsPath(talk)}/${integration.id}`;
const put = (body: object) => service.http('PUT', path(), { key: talk.key, body });
const newest = () => modelRead(service.models).at(-1);

describe('a server that dies during a call and restarts', () => {
  it('fails the call, which is not repeated, and is called over a new connection later', async () => {
    const { port } = server;
    const [run] = await startCalls(talk);
    service.models.next(says('It is away.'));
    const before = server.count('tools/call');
    await server.close();
    expect(await run).toMatchObject({ body: { run: { status: 'completed' }, message: { content: 'It is away.' } } });
    expect(before).toBe(1);
    expect(newest()).toMatchObject({
      isError: true,
      output: expect.stringMatching(/broke off|cannot be reached|was lost/),
    });
    expect((await talk.messages())[1]).toMatchObject({ toolCalls: [{ status: 'failed' }] });

    await until(
      async () => (await service.http<IntegrationView>('GET', path(), { key: talk.key })).body.status === 'error',
      'it was looked for',
    );
    server = await LyingToolServer.start('none', undefined, port);
    await nextRun();
    expect(newest()).toMatchObject({ output: 'done', isError: false });
    expect([server.count('initialize'), server.count('tools/call')]).toEqual([1, 2]);
  });
});

describe('a session that the server has ended', () => {
  it.each([
    ['after a restart', () => server.forgetSessions()],
    ['at the next call', () => (server.lie = 'unknown_session')],
  ])('%s is replaced by a new one, and the tool runs once', async (_when, lose) => {
    await nextRun();
    lose();
    const initialized = server.count('initialize');
    await nextRun();
    expect(newest()).toMatchObject({ output: 'done', isError: false });
    expect(server.count('initialize')).toBe(initialized + 1);
    // The first call, the refused one, and the one that ran.
    expect(server.count('tools/call')).toBe(3);
  });

  it('twice in a row is an error of the call', async () => {
    await nextRun();
    server.answer('tools/call', ({ response }) => response.writeHead(404).end());
    const before = server.count('tools/call');
    await nextRun();
    expect(newest()).toMatchObject({ output: 'The server ended the connection.', isError: true });
    expect(server.count('tools/call')).toBe(before + 2);
  });
});

describe('a call whose run ends', () => {
  const cancel = async (): Promise<void> => {
    const { id = '' } = (await talk.storedRun()) ?? {};
    await service.http('POST', `${talk.path}/runs/${id}/cancel`, { key: talk.key });
  };

  it('by cancellation is aborted at the server, and the connection still serves other calls', async () => {
    const others = await talk.another();
    const [run, theirs] = await startCalls(talk, others);
    await cancel();
    await run;
    await until(
      () => server.abandoned === 1 && server.count('notifications/cancelled') === 1,
      'the server has the cancellation',
    );
    service.models.next(says('Mine is there.'));
    release();
    expect(await theirs).toMatchObject({ body: { message: { content: 'Mine is there.' } } });
    expect(newest()).toMatchObject({ output: 'done', isError: false });
    expect((await talk.messages())[1]).toMatchObject({ toolCalls: [{ status: 'unknown' }] });
    expect(await talk.storedRun()).toMatchObject({ status: 'cancelled' });
    await nextRun();
    // One check, and all calls over its connection.
    expect(server.count('initialize')).toBe(1);
  });

  it('by a disconnected caller with onDisconnect cancel is aborted at the server', async () => {
    hold();
    service.models.next(...usesTools(ECHO).slice(0, 1));
    for await (const { event } of talk.stream('Go', { onDisconnect: 'cancel' })) {
      if (event.type !== 'TOOL_CALL_END') continue;
      await until(() => server.count('tools/call') === 1, 'the call is under way');
      break;
    }
    await until(
      () => server.abandoned === 1 && server.count('notifications/cancelled') === 1,
      'the server has the cancellation',
    );
    await until(async () => (await talk.storedRun())?.status === 'cancelled', 'the run is cancelled');
    release();
    await nextRun();
    expect(newest()).toMatchObject({ output: 'done' });
    expect(server.count('initialize')).toBe(1);
  });
});

describe('while a call is under way', () => {
  it('the address of the integration changes: the call ends at the old one, only later runs call the new one', async () => {
    const [run] = await startCalls(talk);
    const putting = put(customServer({ url: other.url, secretHeaders: { 'X-Key': 'canary-of-the-new-server' } }));
    await until(() => other.count('tools/list') === 1, 'the new server was asked for its tools');
    expect(await putting).toMatchObject({ status: 200, body: { status: 'connected', url: other.url } });
    // The same run calls again.
    service.models.next(...usesTools(ECHO));
    release();
    expect(await run).toMatchObject({ body: { run: { status: 'completed' } } });
    const refused = { output: expect.stringContaining('no longer available'), isError: true };
    expect(modelRead(service.models)).toMatchObject([{ output: 'done', isError: false }, refused]);
    expect([server.count('tools/call'), other.count('tools/call')]).toEqual([1, 0]);
    await nextRun();
    expect([server.count('tools/call'), other.count('tools/call')]).toEqual([1, 1]);
    expect(JSON.stringify(server.requests)).not.toContain('canary-of-the-new-server');
    await until(() => server.requests.some(({ httpMethod }) => httpMethod === 'DELETE'), 'the old session was ended');
  });

  it('a secret is replaced: later calls of the same run have only the new value', async () => {
    await put(customServer({ url: server.url, secretHeaders: { 'X-Key': 'old' } }));
    const [run] = await startCalls(talk);
    await put(customServer({ url: server.url, secretHeaders: { 'X-Key': 'new' } }));
    service.models.next(...usesTools(ECHO));
    release();
    await run;
    const sent = server.requests.filter(({ method }) => method === 'tools/call').map(({ headers }) => headers['x-key']);
    expect(sent).toEqual(['old', 'new']);
  });

  it('a tool is excluded: the same run cannot call it again', async () => {
    const [run] = await startCalls(talk);
    await put({ ...customServer({ url: server.url }), excludedTools: ['echo'] });
    service.models.next(...usesTools(ECHO));
    release();
    expect(await run).toMatchObject({ body: { run: { status: 'completed' } } });
    expect(modelRead(service.models).at(-1)).toMatchObject({
      isError: true,
      output: expect.stringContaining('no longer available'),
    });
    expect(server.count('tools/call')).toBe(1);
  });

  it('the integration is deleted: the call fails, and the same run cannot call it again', async () => {
    const [run] = await startCalls(talk);
    service.models.next(...usesTools(ECHO));
    expect(await service.http('DELETE', path(), { key: talk.key })).toMatchObject({ status: 204 });
    expect(await run).toMatchObject({ body: { run: { status: 'completed' } } });
    expect(modelRead(service.models)).toMatchObject([
      { isError: true, output: 'The connection to the server was lost.' },
      { isError: true, output: expect.stringContaining('no longer available') },
    ]);
    expect([server.count('tools/call'), server.count('initialize')]).toEqual([1, 1]);
  });

  it('the integration is detached from this agent only: calls of the other agent continue', async () => {
    const agentId = await service.agent(talk.key);
    await attach(service, { key: talk.key, agentId }, { url: server.url });
    const threadId = await service.thread(talk.key, agentId);
    const [run] = await startCalls(talk);
    await service.http('DELETE', path(), { key: talk.key });
    service.models.next(...usesTools(ECHO));
    release();
    await run;
    expect(modelRead(service.models).at(-1)).toMatchObject({
      isError: true,
      output: expect.stringContaining('no longer available'),
    });
    service.models.next(...usesTools(ECHO));
    await service.http('POST', `/v1/threads/${threadId}/runs`, {
      key: talk.key,
      body: { message: { role: 'user', content: 'Go' } },
    });
    expect(newest()).toMatchObject({ output: 'done', isError: false });
  });

  it('the agent is deleted: the call is aborted with its run', async () => {
    const [run] = await startCalls(talk);
    expect((await service.http('DELETE', `/v1/agents/${talk.agentId}`, { key: talk.key })).status).toBe(200);
    await run;
    await until(() => server.abandoned === 1, 'the call was broken off');
    expect(server.count('tools/call')).toBe(1);
  });
});
