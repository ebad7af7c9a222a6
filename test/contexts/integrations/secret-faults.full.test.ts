import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import {
  answerJson,
  answerResult,
  answerText,
  type LyingCall,
  type LyingHandler,
  LyingToolServer,
} from '../../support/lying-tool-server.js';
import { Talk } from '../../support/talk.js';
import { attach, customServer, echoOf, integrationsPath, modelRead, usesTools } from '../../support/tool-runs.js';
import type { IntegrationView } from './support.js';

const service = useService({ egressAllow: new LoopbackPorts() });
/** Unique per test, because the tests share a database. */
let secret: string;
let tests = 0;

let server: LyingToolServer;
let talk: Talk;
let integration: IntegrationView;
/** All responses of the service. */
let answers: string[];

beforeEach(async () => {
  tests += 1;
  secret = `canary-secret-${tests}-of-many`;
  server = await LyingToolServer.start();
  talk = await Talk.start(service);
  integration = await attach(service, talk, { url: server.url, secretHeaders: { 'X-Key': secret } });
  answers = [];
});
afterEach(() => server.close());

const sent = ({ request }: LyingCall): string => JSON.stringify(request.headers);
const path = (): string => `${integrationsPath(talk)}/${integration.id}`;

async function ask(method: string, path: string, body?: object): Promise<void> {
  answers.push((await service.http(method, path, { key: talk.key, ...(body && { body }) })).text);
}

/** Every request that shows something of the server, and two runs. */
async function useItAll(): Promise<void> {
  await ask('POST', `${path()}/test`);
  for (const mode of ['stream', 'wait']) {
    service.models.next(...usesTools(echoOf('tickets')));
    if (mode === 'stream') answers.push(JSON.stringify(await talk.streamed('Go')));
    else await ask('POST', `${talk.path}/runs`, { message: { role: 'user', content: 'Go' } });
  }
  await ask('GET', path());
  await ask('GET', integrationsPath(talk));
  await ask('PUT', path(), {
    ...customServer({ url: server.url, secretHeaders: { 'X-Key': secret } }),
    excludedTools: ['other'],
  });
  await ask('GET', `${talk.path}/messages`);
  answers.push(JSON.stringify(await talk.trace()));
}

/** Every row of every table, as text. */
async function stored(): Promise<string> {
  const tables = await service.database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) => service.database.query(`select to_jsonb(r)::text as row from "${name}" r`)),
  );
  return JSON.stringify(rows);
}

/** Keeps the long texts out of the failure message. */
async function expectUntold(): Promise<void> {
  const where = { answers, modelRequests: service.models.requests, rows: await stored() };
  const found = Object.entries(where).filter(([, text]) => JSON.stringify(text).includes(secret));
  expect(found.map(([name]) => name)).toEqual([]);
}

describe('a secret header that the server repeats', () => {
  it.each<[string, string, LyingHandler]>([
    [
      'in an error of the protocol',
      'tools/call',
      (call) =>
        answerJson(call.response, 200, {
          jsonrpc: '2.0',
          id: call.id,
          error: { code: -1, message: sent(call), data: sent(call) },
        }),
    ],
    [
      'in an error of the list',
      'tools/list',
      (call) =>
        answerJson(call.response, 200, {
          jsonrpc: '2.0',
          id: call.id,
          error: { code: -1, message: `You sent ${secret}` },
        }),
    ],
    [
      'in an error while connecting',
      'initialize',
      (call) =>
        answerJson(call.response, 200, { jsonrpc: '2.0', id: call.id, error: { code: -1, message: sent(call) } }),
    ],
    ['in the body of a status', 'tools/call', (call) => answerJson(call.response, 500, { error: sent(call) })],
    ['in the body of a refusal', 'tools/call', (call) => answerJson(call.response, 401, { error: sent(call) })],
    [
      'in an answer that is no MCP',
      'tools/call',
      (call) => answerJson(call.response, 200, { jsonrpc: '2.0', id: call.id, result: secret }),
    ],
    [
      'in an answer that is no JSON',
      'tools/call',
      ({ response }) => response.writeHead(200, { 'content-type': 'application/json' }).end(secret),
    ],
    [
      'in the type of its answer',
      'tools/call',
      ({ response }) => response.writeHead(200, { 'content-type': `text/${secret}` }).end(secret),
    ],
    ['in a redirect', 'tools/call', ({ response }) => response.writeHead(302, { location: `/${secret}` }).end()],
    ['in a cursor', 'tools/list', (call) => answerResult(call, { tools: [], nextCursor: secret })],
    [
      'in a challenge',
      'tools/call',
      ({ response }) =>
        response.writeHead(401, { 'www-authenticate': `Bearer realm="${secret}", error="${secret}"` }).end(),
    ],
    [
      'in its name and protocol',
      'initialize',
      (call) =>
        answerResult(call, {
          protocolVersion: secret,
          capabilities: {},
          serverInfo: { name: secret, version: secret },
        }),
    ],
  ])('%s is neither returned nor stored', async (_where, method, handler) => {
    server.answer(method, handler);
    await useItAll();
    expect(server.requests.some(({ headers }) => headers['x-key'] === secret)).toBe(true);
    await expectUntold();
  });

  it('in names, descriptions and schemas of tools is neither returned nor stored', async () => {
    server.tools = [
      {
        name: 'echo',
        description: `Send ${secret}`,
        inputSchema: { type: 'object', properties: { a: { type: 'string', default: secret } } },
      },
      {
        name: `get_${secret}`,
        title: secret,
        inputSchema: { type: 'object', properties: { [secret]: { type: 'string' } } },
      },
    ];
    await useItAll();
    await expectUntold();
  });

  it('in the id of the session is neither returned nor stored', async () => {
    server.answer('initialize', (call) => {
      call.response.setHeader('mcp-session-id', secret);
      answerResult(call, {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      });
    });
    server.acceptSession(secret);
    await useItAll();
    await expectUntold();
  });

  it('in the result of a tool is redacted for the model and in storage', async () => {
    server.answer('tools/call', (call) =>
      answerResult(call, {
        content: [
          { type: 'text', text: sent(call) },
          { type: 'resource_link', uri: `https://example.com/${secret}`, name: secret },
        ],
        structuredContent: { sent: sent(call) },
      }),
    );
    await useItAll();
    expect(modelRead(service.models)).toMatchObject([
      { output: expect.stringContaining('[redacted]'), isError: false },
      expect.anything(),
    ]);
    await expectUntold();
  });

  it('is not returned either if the value is a common word', async () => {
    await service.http('PUT', path(), {
      key: talk.key,
      body: customServer({ url: server.url, secretHeaders: { 'X-Key': 'on' } }),
    });
    server.answer('tools/call', (call) => answerText(call, 'Come on in, on Monday'));
    service.models.next(...usesTools(echoOf('tickets')));
    await talk.run('Go');
    expect(modelRead(service.models)).toMatchObject([{ output: 'Come on in, on Monday', isError: false }]);
  });
});
