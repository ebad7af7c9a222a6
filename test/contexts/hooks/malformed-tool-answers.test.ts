import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NotingTool } from '../../support/approvals.js';
import { answerJson, LyingToolServer } from '../../support/lying-tool-server.js';
import { calls, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';
import { connect, customServer } from '../../support/tool-integrations.js';
import { setHooks, useHookService } from './support.js';

const service = useHookService({ extensions: scriptedRuns });
let server: LyingToolServer;

beforeAll(async () => {
  server = await LyingToolServer.start();
});
afterAll(() => server.close());

const BLOCK = JSON.stringify({ decision: 'block', reason: 'No.' });

/** An agent with the server's tool, which returns this result for each call. */
async function talkWithServer(app: string, result: unknown): Promise<Talk> {
  const talk = await Talk.start(service);
  await connect(service, talk, customServer(app, { url: server.url, transportType: 'streamableHttp' }));
  server.answer('tools/call', ({ id, response }) => answerJson(response, 200, { jsonrpc: '2.0', id, result }));
  return talk;
}

const MALFORMED: readonly (readonly [string, unknown])[] = [
  ['no content at all', {}],
  ['content that is null', { content: null }],
  ['content that is a text', { content: BLOCK }],
  ['a text that is a number', { content: [{ type: 'text', text: 5 }] }],
  ['a part that is null', { content: [null] }],
  ['a part of an unknown type', { content: [{ type: 'verdict', text: BLOCK }] }],
  ['a malformed part beside a valid one', { content: [{ type: 'text', text: '{}' }, { type: 'text' }] }],
  ['an error that is no boolean', { content: [{ type: 'text', text: 'Down.' }], isError: 'yes' }],
];

describe('a result that is not valid MCP', () => {
  it.each(MALFORMED)('is malformed output: a guard that fails closed blocks on %s', async (what, result) => {
    const app = `Guard ${what}`;
    const talk = await talkWithServer(app, result);
    await setHooks(service, talk, {
      PreToolUse: [{ hooks: [{ type: 'mcp_tool', server: app, tool: 'echo', failClosed: true }] }],
    });
    const guarded = new NotingTool('guarded');
    during(talk.threadId, { tools: [guarded.offered] });
    service.models.next(calls('guarded', {}), says('Done'));
    await talk.run('Go');
    expect(guarded.inputs).toEqual([]);
  });

  it.each(MALFORMED)('degrades the start of a thread: %s', async (what, result) => {
    const app = `Profile ${what}`;
    const talk = await talkWithServer(app, result);
    const path = `/v1/agents/${talk.agentId}/session-start-hook`;
    await service.http('PUT', path, { key: talk.key, body: { app, toolName: 'echo' } });
    service.models.next(says('Hello'));
    await talk.run('Hi');
    expect(await talk.trace()).toMatchObject({ sessionStartHook: { status: 'degraded', contexts: [] } });
  });
});

describe('a valid result', () => {
  it.each([
    ['nothing', { content: [] }],
    ['text', { content: [{ type: 'text', text: 'Fine.' }] }],
    ['an object of structured content alone', { structuredContent: {} }],
    ['a picture', { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }],
  ])('with %s blocks nothing', async (what, result) => {
    const app = `Valid ${what}`;
    const talk = await talkWithServer(app, result);
    await setHooks(service, talk, {
      PreToolUse: [{ hooks: [{ type: 'mcp_tool', server: app, tool: 'echo', failClosed: true }] }],
    });
    const guarded = new NotingTool('guarded');
    during(talk.threadId, { tools: [guarded.offered] });
    service.models.next(calls('guarded', {}), says('Done'));
    await talk.run('Go');
    expect(guarded.inputs).toEqual([{}]);
  });
});
