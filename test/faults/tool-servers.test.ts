import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { catalogueOf, isRunning, localApp } from '../support/local-app.js';
import { answerJson, type Lie, LyingToolServer } from '../support/lying-tool-server.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { customServer, echoOf, integrationsPath, modelRead, usesTools } from '../support/tool-runs.js';
import { until } from '../support/until.js';
import { isHarmless, startWatched, watchedCost } from '../support/watched-cost.js';
import { onceFree, type ReceivedEvent, ServiceClient } from './service-client.js';

// Each test starts processes.
const SECRET = 'canary-header-secret';

let models: ScriptedModels;
let mode: ModeEnvironment;
let data: DataFolder;
let server: LyingToolServer;
let service: ServiceProcess;
let client: ServiceClient;
let key = '';

beforeAll(async () => {
  [models, mode, data] = [await ScriptedModels.start(), await modeEnvironment(), await dataFolder()];
});
beforeEach(async () => {
  models.reset();
  server = await LyingToolServer.start();
});
afterEach(async () => {
  await service.kill();
  await server.close();
});
afterAll(async () => {
  await models.close();
  await mode.close();
  data.remove();
});

async function start(
  more: Readonly<Record<string, string>> = {},
  by = (environment: Readonly<Record<string, string>>) => ServiceProcess.start({ environment }),
): Promise<void> {
  const allowed = { EGRESS_ALLOW: `127.0.0.1:${server.port}`, ...catalogueOf(data.path, 'local') };
  service = await by({ DATA_DIR: data.path, ...models.environment, ...mode.variables, ...allowed, ...more });
  key ||= service.firstKey ?? '';
  client = new ServiceClient(service, key);
}

/** Unique for a test: the tests share an organization, in which the names of servers are unique. */
function app(): string {
  return `tickets-${server.port}`;
}

interface Conversation {
  readonly agentId: string;
  readonly threadId: string;
  /** Of the local server. */
  readonly pid: number;
}

/** An agent with the server and a local server, both connected. */
async function conversation(): Promise<Conversation> {
  const { agentId, threadId } = await client.thread();
  for (const body of [
    customServer({ url: server.url, app: app(), secretHeaders: { 'X-Key': SECRET } }),
    localApp('local', SECRET),
  ]) {
    expect(await client.call('POST', integrationsPath({ agentId }), body)).toMatchObject({ status: 'connected' });
  }
  models.next(...usesTools('mcp__local__pid', echoOf(app())));
  await client.streamed(threadId, 'Go');
  return { agentId, threadId, pid: Number(modelRead(models)[0]?.output) };
}

/** Calls both servers, which do not answer. @returns the events, once the stream has ended or broken off */
async function callsUnderWay(threadId: string): Promise<{ events: ReceivedEvent[]; ended: Promise<void> }> {
  server.answer('tools/call', () => undefined);
  const before = server.count('tools/call');
  models.next(...usesTools(echoOf(app()), 'mcp__local__silent').slice(0, 1));
  const events: ReceivedEvent[] = [];
  const read = async (): Promise<void> => {
    for await (const event of client.stream(threadId, 'Go')) events.push(event);
  };
  const ended = read().catch(() => undefined);
  await until(() => server.count('tools/call') === before + 1, 'the calls are under way');
  return { events, ended };
}

describe('a service that is killed (SIGKILL) during tool calls', () => {
  it('leaves no local server behind; the calls are unknown, never repeated, and the next message works', async () => {
    await start();
    const { threadId, pid } = await conversation();
    expect(isRunning(pid)).toBe(true);
    const { ended } = await callsUnderWay(threadId);
    await service.kill();
    await ended;
    await until(() => !isRunning(pid), 'the local server is gone');

    await start();
    const called = server.count('tools/call');
    const next = await onceFree(() => {
      models.next(says('Going on.'));
      return client.streamed(threadId, 'And now?');
    });
    expect(next.at(-1)).toMatchObject({ type: 'RUN_FINISHED' });
    const messages = await client.messages(threadId);
    expect(messages.slice(-3)).toMatchObject([
      { status: 'incomplete', toolCalls: [{ status: 'unknown' }, { status: 'unknown' }] },
      { content: 'And now?' },
      { content: 'Going on.', status: 'completed' },
    ]);
    expect(server.count('tools/call')).toBe(called);
    models.reset();
    models.next(...usesTools('mcp__local__pid'));
    await client.streamed(threadId, 'Again');
    expect(modelRead(models).at(-1)).toMatchObject({ isError: false });
  });
});

describe('a service that gets SIGTERM', () => {
  it('with open connections and local servers but no calls ends their sessions and processes, and exits with 0', async () => {
    await start();
    const { pid } = await conversation();
    service.signal('SIGTERM');
    expect(await service.ended()).toBe(0);
    expect(isRunning(pid)).toBe(false);
    // It was sent before the process ended, and is read here after that.
    await until(() => server.requests.some(({ httpMethod }) => httpMethod === 'DELETE'), 'the session was ended');
  });

  it('during tool calls aborts them when their time is up, leaves no process behind, and exits with 0', async () => {
    await start({ SHUTDOWN_SECONDS: '1' });
    const { threadId, pid } = await conversation();
    const { events, ended } = await callsUnderWay(threadId);
    service.signal('SIGTERM');
    await ended;
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'server_shutdown' });
    expect(await service.ended()).toBe(0);
    await until(() => server.abandoned === 1, 'the call was broken off');
    expect(isRunning(pid)).toBe(false);
  });
});

describe('a tool server that misbehaves', () => {
  it('neither stalls the event loop of the service nor takes its memory', async () => {
    await start({}, startWatched);
    const { agentId, threadId } = await conversation();
    const { integrations } = await client.call<{ integrations: { id: string; type: string }[] }>(
      'GET',
      integrationsPath({ agentId }),
    );
    const id = integrations.find(({ type }) => type === 'custom-mcp')?.id ?? '';
    const call = async (): Promise<string> => {
      models.next(...usesTools(echoOf(app())));
      return (await client.streamed(threadId, 'Go')).at(-1)?.type ?? '';
    };
    const test = async (): Promise<string> =>
      JSON.stringify(await client.call('POST', `${integrationsPath({ agentId })}/${id}/test`));
    const cases: [Lie, () => Promise<string>, RegExp][] = [
      ['huge_answer', call, /RUN_FINISHED/],
      ['endless_event', call, /RUN_FINISHED/],
      ['gzip_bomb', call, /RUN_FINISHED/],
      ['huge_schema', test, /larger than 1 MB/],
      ['very_many_tools', test, /more than 500 tools/],
      ['endless_pages', test, /more than 50 pages/],
    ];
    for (const [lie, ask, outcome] of cases) {
      server.lie = lie;
      const cost = await watchedCost(service, ask);
      expect({ lie, ...cost, harmless: isHarmless(cost) }).toEqual({ lie, ...cost, harmless: true });
      expect(cost.result).toMatch(outcome);
    }
  });
});

describe('the log of a service', () => {
  it('has no secret that servers repeat, at any log level', async () => {
    await start({ LOG_LEVEL: 'debug' });
    const { threadId } = await conversation();
    for (const status of [200, 400, 401, 403, 404, 500]) {
      server.answer('tools/call', ({ id, request, response }) =>
        answerJson(response, status, {
          jsonrpc: '2.0',
          id,
          error: { code: -1, message: JSON.stringify(request.headers) },
        }),
      );
      models.next(...usesTools(echoOf(app()), 'mcp__local__environment', 'mcp__local__crash'));
      await client.streamed(threadId, 'Go');
    }
    service.signal('SIGTERM');
    await service.ended();
    expect(service.written).toContain('A tool server failed');
    expect(service.written.includes(SECRET)).toBe(false);
  });
});
