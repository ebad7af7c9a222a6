import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RefreshToolLists } from '../../../src/integrations/application/refresh-tool-lists.js';
import { CALL_MS, CONNECT_MS, OFFER_WAIT_MS } from '../../../src/integrations/limits.js';
import { Canary } from '../../support/canary.js';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { answerResult, answerText, type Lie, LyingToolServer } from '../../support/lying-tool-server.js';
import { ManualClock } from '../../support/manual-clock.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import { attach, echoOf, integrationsPath, modelRead, usesTools } from '../../support/tool-runs.js';
import { until } from '../../support/until.js';
import type { IntegrationView } from './support.js';

const clock = new ManualClock();
const service = useService({ clock, egressAllow: new LoopbackPorts() });

/** Details of a server that a model or customer must not see: its address, its secrets, internal errors. */
const INTERNAL = /127\.0\.0\.1|localhost|::1|10\.0\.0\.7|canary|ECONN|EPIPE|UND_ERR|stack|undefined|Error:|\bat \//i;
const SECRETS = { 'x-key': 'canary-secret' };

let steady: LyingToolServer;
let lying: LyingToolServer;
let canary: Canary;
let talk: Talk;
let integration: IntegrationView;

beforeAll(async () => {
  steady = await LyingToolServer.start();
  canary = await Canary.start();
});
afterAll(async () => {
  await steady.close();
  await canary.close();
});
beforeEach(async () => {
  // An address that is not exempt from the rules for outbound requests.
  lying = await LyingToolServer.start('none', `http://[::ffff:127.0.0.1]:${canary.port}/secret`);
  talk = await Talk.start(service);
  integration = await attach(service, talk, { url: lying.url, app: 'lying', secretHeaders: SECRETS });
  await attach(service, talk, { url: steady.url, app: 'steady' });
});
afterEach(() => lying.close().catch(() => undefined));

/** The model calls a tool of the faulty server and one of the working server. */
async function runOfBoth(): Promise<void> {
  service.models.next(...usesTools(echoOf('lying'), echoOf('steady')));
  expect(await talk.run('Go')).toMatchObject({ status: 200, body: { run: { status: 'completed', error: null } } });
}

/** @returns the result of the faulty server, as the model reads it */
async function expectOneFailed(): Promise<string> {
  const [failed, worked] = modelRead(service.models);
  expect(failed).toMatchObject({ isError: true });
  expect(worked).toMatchObject({ output: 'done', isError: false });
  expect(failed?.output).toMatch(/^The .{10,200}\.$/);
  expect(failed?.output).not.toMatch(INTERNAL);
  const { steps } = await talk.trace();
  expect(steps.filter(({ type }) => type === 'tool')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: echoOf('lying'), error: failed?.output }),
      expect.objectContaining({ name: echoOf('steady'), error: null }),
    ]),
  );
  const [, stored] = await talk.messages();
  expect(stored).toMatchObject({ status: 'completed', toolCalls: [{ status: 'failed' }, { status: 'completed' }] });
  return failed?.output ?? '';
}

const path = (): string => `${integrationsPath(talk)}/${integration.id}`;
const test = () => service.http('POST', `${path()}/test`, { key: talk.key });
const read = async (): Promise<IntegrationView> =>
  (await service.http<IntegrationView>('GET', path(), { key: talk.key })).body;

async function expectBroken(tested: Awaited<ReturnType<typeof test>>, error: string | RegExp): Promise<void> {
  expect(tested).toMatchObject({ status: 200, body: { ok: false, tools: 0, error: expect.stringMatching(error) } });
  expect(tested.text).not.toMatch(INTERNAL);
  expect(await read()).toMatchObject({ status: 'error', error: tested.body['error'], tools: [{ name: 'echo' }] });
}

async function advanceOnce(method: string, ms: number): Promise<void> {
  await until(() => lying.count(method) > 0, `the server was asked for ${method}`);
  await clock.advance(ms);
}

describe('a tool server that', () => {
  it.each<[Lie, RegExp]>([
    ['resets', /answer broke off|cannot be reached/],
    ['answers_500', /HTTP status 500/],
    ['invalid_json', /not valid MCP/],
    ['no_json_rpc', /not valid MCP/],
    ['huge_answer', /larger than 1 MB/],
    ['endless_event', /larger than 1 MB/],
    ['gzip_bomb', /larger than 1 MB/],
    ['stream_without_answer', /connection to the server was lost/],
    ['redirect', /redirect, which is not followed/],
  ])('%s fails one call of a run, and is the error of a test', async (lie, words) => {
    lying.lie = lie;
    await runOfBoth();
    expect(await expectOneFailed()).toMatch(words);
    expect(lying.count('tools/call')).toBe(1);
    lying.lieAt = 'tools/list';
    await expectBroken(await test(), words);
    lying.lieAt = 'initialize';
    await expectBroken(await test(), words);
    expect(canary.connections).toBe(0);

    lying.lie = 'none';
    expect((await test()).body).toMatchObject({ ok: true, tools: 1, error: null });
    await runOfBoth();
    expect(modelRead(service.models).slice(-2)).toMatchObject([{ output: 'done' }, { output: 'done' }]);
    expect(await read()).toMatchObject({ status: 'connected', error: null });
  });

  it('is down fails one call of a run, and is the error of the integration and of a test', async () => {
    const { port } = lying;
    await lying.close();
    await runOfBoth();
    await expectOneFailed();
    await until(async () => (await read()).status === 'error', 'the integration shows it');
    expect(await read()).toMatchObject({ error: 'The server cannot be reached.', tools: [{ name: 'echo' }] });
    await expectBroken(await test(), /cannot be reached/);
    lying = await LyingToolServer.start('none', undefined, port);
    expect((await test()).body).toMatchObject({ ok: true });
  });

  it.each<Lie>(['hangs_at_call', 'drip'])('%s fails after the timeout of a call', async (lie) => {
    lying.lie = lie;
    const before = steady.count('tools/call');
    const run = runOfBoth();
    await until(() => steady.count('tools/call') > before, 'the other one was called');
    await advanceOnce('tools/call', CALL_MS - 1);
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });
    await clock.advance(1);
    await run;
    expect(await expectOneFailed()).toBe('The server did not answer within 60 seconds.');
    await until(() => lying.abandoned === 1, 'the request was broken off');
    expect(lying.count('tools/call')).toBe(1);
  });

  it.each<[Lie, string]>([
    ['hangs_at_connect', 'initialize'],
    ['hangs_at_list', 'tools/list'],
  ])('%s fails after the timeout of connecting', async (lie, method) => {
    lying.requests.length = 0;
    lying.lie = lie;
    const tested = test();
    await advanceOnce(method, CONNECT_MS);
    await expectBroken(await tested, 'The server did not answer within 10 seconds.');
  });

  it('hangs delays no run, and one without a known list of tools only for a limited time', async () => {
    const hanging = await LyingToolServer.start('hangs_at_connect');
    const checks = jest.spyOn(service.app.get(RefreshToolLists, { strict: false }), 'check');
    try {
      const created = attach(service, talk, { url: hanging.url, app: 'hanging' });
      await until(() => hanging.count('initialize') === 1, 'it was asked');
      await clock.advance(CONNECT_MS);
      expect(await created).toMatchObject({
        status: 'error',
        error: 'The server did not answer within 10 seconds.',
        tools: [],
      });
      // Long enough for the next run to check it again.
      await clock.advance(60_000);
      await runOfBoth();
      await until(() => hanging.count('initialize') === 2, 'it was asked again');
      await clock.advance(CONNECT_MS);
      // The result is stored before the next run starts, which shares a check that is under way.
      await Promise.all(checks.mock.results.map(({ value }) => value));

      await service.database.query('delete from tool_integration_states where organization_id = $1 and status = $2', [
        talk.organization.id,
        'error',
      ]);
      await clock.advance(60_000);
      const run = runOfBoth();
      await until(() => hanging.count('initialize') === 3, 'it was asked as if for the first time');
      await clock.advance(OFFER_WAIT_MS);
      await run;
      expect(modelRead(service.models).slice(-2)).toMatchObject([{ output: 'done' }, { output: 'done' }]);
      await clock.advance(CONNECT_MS);
    } finally {
      checks.mockRestore();
      await hanging.close();
    }
  });
});

describe('a list of tools that', () => {
  it.each<Lie>(['huge_schema', 'very_many_tools', 'cyclic_pages', 'endless_pages'])(
    '%s is the error of the integration; the tools known before stay',
    async (lie) => {
      lying.lie = lie;
      await expectBroken(await test(), /^The (server's answer|server has|list of tools)/);
      await runOfBoth();
      expect(modelRead(service.models)).toMatchObject([{ output: 'done' }, { output: 'done' }]);
    },
  );

  it('changes: a call of a removed tool is an error, and the next runs have the new tools', async () => {
    lying.tools = [{ name: 'shout', inputSchema: { type: 'object' } }];
    lying.answer('tools/call', (call) => {
      const known = call.params['name'] === 'shout';
      answerResult(call, { content: [{ type: 'text', text: known ? 'DONE' : 'Unknown tool: echo' }], isError: !known });
    });
    service.models.next(...usesTools(echoOf('lying')));
    await talk.run('Go');
    expect(modelRead(service.models)).toMatchObject([{ output: 'Unknown tool: echo', isError: true }]);

    await test();
    service.models.next(...usesTools('mcp__lying__shout', echoOf('lying')));
    expect(await talk.run('Again')).toMatchObject({ body: { run: { status: 'completed' } } });
    expect(modelRead(service.models).slice(-2)).toMatchObject([
      { output: 'DONE', isError: false },
      { output: expect.stringContaining('There is no tool named mcp__lying__echo'), isError: true },
    ]);
  });

  it('has colliding names, also with another server: each tool gets its own name and is called by it', async () => {
    const other = await LyingToolServer.start();
    const called: unknown[] = [];
    for (const server of [lying, other]) {
      server.answer('tools/call', (call) => {
        called.push(`${server === lying ? 'lying' : 'other'} ${String(call.params['name'])}`);
        answerText(call, 'done');
      });
    }
    lying.tools = ['a.b', 'a_b', 'echo', 'a.b'].map((name) => ({ name, inputSchema: { type: 'object' } }));
    await test();
    await attach(service, talk, { url: other.url, app: 'lying!' });
    service.models.next(says('Several.'));
    await talk.run('What is there?');
    const offered = service.models.requests.at(-1)?.body['tools'] as readonly { readonly name: string }[];
    const names = offered.map(({ name }) => name).filter((name) => name.startsWith('mcp__lying'));
    expect([names.length, new Set(names).size]).toEqual([4, 4]);
    service.models.next(...usesTools(...names));
    await talk.run('All of them');
    expect(called.sort()).toEqual(['lying a.b', 'lying a_b', 'lying echo', 'other echo']);
    await other.close();
  });
});

describe('a private address', () => {
  it('is not connected to, whether it is the server’s or one that the server sends', async () => {
    const url = `http://[::ffff:127.0.0.1]:${canary.port}/mcp`;
    const made = await attach(service, talk, { url, app: 'private', secretHeaders: SECRETS });
    expect(made).toMatchObject({ status: 'error', tools: [] });
    const streaming = await Canary.start((_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`event: endpoint\ndata: http://[::ffff:127.0.0.1]:${canary.port}/x\n\n`),
    );
    const sse = await attach(service, talk, {
      url: `${streaming.url}/sse`,
      app: 'streaming',
      transportType: 'sse',
      secretHeaders: SECRETS,
    });
    expect(sse).toMatchObject({ status: 'error', tools: [] });
    await streaming.close();
    expect(canary.connections).toBe(0);
    expect(JSON.stringify([made.error, sse.error])).not.toMatch(INTERNAL);
  });
});
