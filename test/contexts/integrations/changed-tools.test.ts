import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '../../../src/platform/telemetry/index.js';
import { until, useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, type ModelScript, says } from '../../support/scripted-models.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';
import { connect, customServer, readIntegration } from '../../support/tool-integrations.js';
import {
  said,
  type ServedTool,
  TOOL_SERVER_KINDS,
  ToolServer,
  type ToolServerKind,
} from '../../support/tool-server.js';

const service = useService({ egressAllow: new LoopbackPorts() });
let started: ToolServer[];

beforeEach(() => {
  started = [];
});
afterEach(() => Promise.all(started.map((server) => server.close())));

async function serve(kind: ToolServerKind, ...tools: ServedTool[]): Promise<ToolServer> {
  const server = await ToolServer.start(kind, ...tools);
  started.push(server);
  return server;
}

/** Waits until the integration has exactly these tools. */
function known(talk: Talk, id: string, ...names: string[]): Promise<void> {
  const isKnown = async (): Promise<boolean> =>
    (await readIntegration(service, talk, id)).tools.map(({ name }) => name).join() === names.join();
  return until(isKnown, `the tools ${names.join()} are known`);
}

function toolResults(): { id: string; output: string; isError: boolean }[] {
  return anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {});
}

const offered = (): string[] => sentToolNames(service.models.requests.at(-1)?.body ?? {});

describe.each(TOOL_SERVER_KINDS)('a server over %s whose tools change', (kind) => {
  it('and that notifies is checked: the next run has the new tools', async () => {
    const server = await serve(kind, { name: 'old' });
    const talk = await Talk.start(service);
    const { id } = await connect(service, talk, customServer('app', server));
    await until(() => server.listeners > 0, 'it is listened to');
    server.become([{ name: 'new' }, { name: 'other' }], { announced: true });
    await known(talk, id, 'new', 'other');

    service.models.next(calls('mcp__app__new', { x: 1 }), says('Done.'));
    await talk.run('Go');

    expect(offered()).toEqual(['mcp__app__new', 'mcp__app__other']);
    expect(toolResults()).toMatchObject([{ output: 'new {"x":1}', isError: false }]);
  });
});

describe('a server that refuses to send notifications', () => {
  it('is connected, and the log names the integration', async () => {
    const server = await serve('modern', { name: 'only' });
    server.refusal = ({ headers }) => (headers['mcp-method'] === 'subscriptions/listen' ? 503 : undefined);
    const talk = await Talk.start(service);
    const log = jest.spyOn(service.app.get(Logger, { strict: false }), 'info');
    try {
      const { id } = await connect(service, talk, customServer('app', server));
      const logged = (): (readonly unknown[])[] =>
        log.mock.calls.filter(([, message]) => message.includes('refused to send notifications'));
      await until(() => logged().length > 0, 'it is logged');
      expect(logged()).toEqual([
        [
          expect.objectContaining({ integrationId: id, reason: 'The server answered with HTTP status 503.' }),
          expect.anything(),
        ],
      ]);
    } finally {
      log.mockRestore();
    }
  });
});

describe('an integration with a new address', () => {
  it('has no tools of the former server, even if the new one is unreachable', async () => {
    const [former, hidden] = [await serve('modern', { name: 'old' }), await serve('modern', { name: 'new' })];
    const talk = await Talk.start(service);
    const { id } = await connect(service, talk, customServer('app', former));
    const body = customServer('app', hidden);
    await hidden.close();
    started.pop();

    const path = `/v1/agents/${talk.agentId}/tool-integrations/${id}`;
    const moved = await service.http('PUT', path, { key: talk.key, body });
    expect([moved.status, moved.body]).toMatchObject([200, { status: 'error', tools: [] }]);
    service.models.next(says('No tools.'));
    await talk.run('Go');
    expect(offered()).toEqual([]);
  });

  it('is not called by a run that was offered the tools of the former server', async () => {
    const [former, other] = [await serve('modern', { name: 'look' }), await serve('modern', { name: 'look' })];
    const talk = await Talk.start(service);
    const { id } = await connect(service, talk, customServer('app', former));
    const path = `/v1/agents/${talk.agentId}/tool-integrations/${id}`;
    const move: ModelScript = async (exchange, wire) => {
      expect((await service.http('PUT', path, { key: talk.key, body: customServer('app', other) })).status).toBe(200);
      await calls('mcp__app__look', {})(exchange, wire);
    };
    service.models.next(move, says('Done.'));
    await talk.run('Go');
    expect(toolResults()).toMatchObject([{ output: expect.stringContaining('no longer available'), isError: true }]);
    expect([former.calls, other.calls].flat()).toEqual([]);
  });
});

describe('a tool that its server removed without a notification', () => {
  const GONE: readonly [string, NonNullable<ServedTool['run']> | undefined][] = [
    ['as a result', undefined],
    ['as an error of the protocol', () => Promise.reject(new Error('Unknown tool: old'))],
  ];

  it.each(GONE)('is an error for the model (%s), and the server is checked', async (_how, run) => {
    const server = await serve('streamableHttp', { name: 'old' });
    const talk = await Talk.start(service);
    const { id } = await connect(service, talk, customServer('app', server));
    server.become([{ name: 'new' }], { announced: false });
    if (run) server.unknown = run;

    service.models.next(calls('mcp__app__old'), says('Alas.'), says('Fine.'));
    const { body } = await talk.run('Go');
    expect(body.message).toMatchObject({ content: 'Alas.', toolCalls: [{ name: 'mcp__app__old', status: 'failed' }] });
    expect(toolResults()).toMatchObject([{ output: expect.stringContaining('old'), isError: true }]);

    await known(talk, id, 'new');
    await talk.run('And now?');
    expect(offered()).toEqual(['mcp__app__new']);
  });
});

describe('two integrations with the same slug', () => {
  it('keep their own tools, and calls reach the right server', async () => {
    const answering = (words: string): ServedTool[] => [{ name: 'run', run: () => said(words) }];
    const [one, two] = [
      await serve('streamableHttp', ...answering('from one')),
      await serve('modern', ...answering('from two')),
    ];
    const talk = await Talk.start(service);
    const [first, second] = [
      await connect(service, talk, customServer('My App', one)),
      await connect(service, talk, customServer('my-app', two)),
    ];
    service.models.next(says('Hi.'));
    await talk.run('Hi');
    const [a = '', b = ''] = offered();
    expect(offered()).toHaveLength(2);
    expect([a, b]).toEqual(['mcp__my-app__run', expect.stringMatching(/^mcp__my-app__run_[0-9a-f]{8}$/)]);

    service.models.next(
      answers({
        calls: [
          { id: 'a', name: a },
          { id: 'b', name: b },
        ],
      }),
      says('Done.'),
    );
    await talk.run('Go');

    expect(toolResults()).toMatchObject([
      { id: 'a', output: 'from one' },
      { id: 'b', output: 'from two' },
    ]);
    expect([one.calls.length, two.calls.length]).toEqual([1, 1]);
    expect(first.id).not.toBe(second.id);
  });
});
