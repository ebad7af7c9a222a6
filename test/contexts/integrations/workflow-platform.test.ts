import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startService, type TestService, until } from '../../support/harness.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { calls, says } from '../../support/scripted-models.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';
import { addIntegration, connect, customServer, readIntegration } from '../../support/tool-integrations.js';
import { ToolServer } from '../../support/tool-server.js';

const TOKEN = 'platform-token-canary';
const flow = { type: 'workflow-platform', nameSlug: 'on-boarding', authType: 'keys' };
let platform: ToolServer;
let service: TestService;
/** The status of every answer; undefined for normal answers. */
let refusal: number | undefined;

beforeAll(async () => {
  platform = await ToolServer.start('streamableHttp', { name: 'start_flow' });
  platform.refusal = ({ headers }) =>
    headers.authorization === `Bearer ${TOKEN}` && headers['x-organization-id'] ? refusal : 401;
  const environment = {
    WORKFLOW_PLATFORM_URL: `http://${platform.host}/flows/{nameSlug}/mcp`,
    WORKFLOW_PLATFORM_TOKEN: TOKEN,
  };
  service = await startService({ environment });
});
afterAll(async () => {
  await service.close();
  await platform.close();
});
beforeEach(() => {
  refusal = undefined;
  platform.reset();
  service.models.reset();
});

const START = 'mcp__on-boarding__start_flow';

/** The output of the model's call. */
async function callIn(talk: Talk): Promise<{ output: string; isError: boolean } | undefined> {
  service.models.next(calls(START, { customer: 7 }), says('Done.'));
  expect((await talk.run('Start')).body.message?.content).toBe('Done.');
  return anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {}).at(-1);
}

describe('an integration of the workflow platform', () => {
  it('is called at the address of its slug, with the platform’s token and the organization', async () => {
    const talk = await Talk.start(service);
    const { tools } = await connect(service, talk, flow);
    expect(tools.map(({ name }) => name)).toEqual(['start_flow']);
    expect(await callIn(talk)).toMatchObject({ output: 'start_flow {"customer":7}', isError: false });
    for (const { url, headers } of platform.requests) {
      expect(url).toBe('/flows/on-boarding/mcp');
      expect(headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'x-organization-id': talk.organization.id });
    }
    const read = await service.http('GET', `/v1/agents/${talk.agentId}/tool-integrations`, { key: talk.key });
    expect(read.text).not.toContain('canary');
  });

  it.each([401, 403])('needs authorization if the platform answers %d, also later; runs continue', async (status) => {
    const talk = await Talk.start(service);
    const { id } = await connect(service, talk, flow);
    refusal = status;
    expect(await callIn(talk)).toMatchObject({ output: expect.any(String), isError: true });
    const tested = await service.http('POST', `/v1/agents/${talk.agentId}/tool-integrations/${id}/test`, {
      key: talk.key,
    });
    expect(tested).toMatchObject({ status: 200, body: { ok: false, error: expect.any(String) } });
    expect(await readIntegration(service, talk, id)).toMatchObject({
      status: 'needs_authorization',
      error: expect.stringMatching(/authori/),
    });
    const other = await talk.withAnotherAgent();
    expect(await addIntegration(service, other, { ...flow, nameSlug: 'another' })).toMatchObject({
      status: 'needs_authorization',
    });
    refusal = undefined;
    const again = await service.http('POST', `/v1/agents/${talk.agentId}/tool-integrations/${id}/test`, {
      key: talk.key,
    });
    expect(again.body).toMatchObject({ ok: true, tools: 1 });
  });

  it('does not let customers reach the platform’s host with their own address, even while a connection to it is open', async () => {
    const talk = await Talk.start(service);
    await connect(service, talk, flow);
    expect(await callIn(talk)).toMatchObject({ isError: false });
    // Requests of the connection itself, which come at any time.
    await until(
      () => platform.requests.some(({ method }) => method === 'GET'),
      'the stream of the connection is asked for',
    );
    platform.reset();
    const own = { url: platform.url, transportType: 'streamableHttp' as const };
    const headers = { 'x-organization-id': { type: 'plain_text', value: 'x' } };
    const added = await addIntegration(service, talk, customServer('mine', own, { httpHeaders: headers }));
    expect(added).toMatchObject({
      status: 'error',
      error: expect.stringMatching(/address|not allowed|refused/i),
      tools: [],
    });
    expect(platform.requests).toEqual([]);
    expect(await callIn(talk)).toMatchObject({ isError: false });
  });
});

describe('a service without a workflow platform', () => {
  it('has an error in the integration, and runs continue without its tools', async () => {
    const without = await startService();
    const talk = await Talk.start(without);
    const added = await addIntegration(without, talk, flow);
    expect(added).toMatchObject({ status: 'error', error: expect.stringContaining('no workflow platform'), tools: [] });
    without.models.next(says('Hi.'));
    expect((await talk.run('Hi')).body.message?.content).toBe('Hi.');
    expect(sentToolNames(without.models.requests[0]?.body ?? {})).toEqual([]);
    await without.close();
  });
});
