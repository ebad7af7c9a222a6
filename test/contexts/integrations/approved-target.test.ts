import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startService, type TestService } from '../../support/harness.js';
import { LyingToolServer } from '../../support/lying-tool-server.js';
import { calls, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

let shown: LyingToolServer;
let other: LyingToolServer;
let service: TestService;
let talk: Talk;

beforeAll(async () => {
  shown = await LyingToolServer.start('none');
  other = await LyingToolServer.start('none');
  const environment = { EGRESS_ALLOW: [shown, other].map(({ port }) => `127.0.0.1:${port}`).join(',') };
  service = await startService({ environment });
});

afterAll(async () => {
  await service.close();
  await shown.close();
  await other.close();
});

const callsAt = (server: LyingToolServer): number => server.count('tools/call');

function zed(server: LyingToolServer, changes: object = {}): object {
  return {
    type: 'custom-mcp',
    app: 'Zed',
    url: server.url,
    transportType: 'streamableHttp',
    auth: { type: 'none' },
    ...changes,
  };
}

async function send(method: string, path: string, body?: object): Promise<string> {
  const { status, body: answer } = await service.http(method, `/v1/agents/${talk.agentId}/tool-integrations${path}`, {
    key: talk.key,
    body,
  });
  expect(status).toBeLessThan(300);
  return String(answer['id']);
}

/** @returns the result of the approved call, as the model reads it */
async function approve(interruptId: string): Promise<string> {
  service.models.next(says('Done.'));
  const { body } = await talk.resume({ interruptId, status: 'resolved', payload: { approved: true } });
  expect(body.run.status).toBe('completed');
  return JSON.stringify(service.models.requests.at(-1)?.body);
}

describe('an approval', () => {
  let integrationId: string;
  let interruptId: string;

  beforeEach(async () => {
    for (const server of [shown, other]) server.requests.length = 0;
    talk = await Talk.start(service, { tools: { requireApprovalBeforeToolCalls: true } });
    integrationId = await send('POST', '', zed(shown));
    service.models.next(calls('mcp__zed__echo', { text: 'pay' }));
    const { body } = await talk.run('Pay.');
    interruptId = body.interrupts[0]?.id ?? '';
  });

  it('is valid for its server, not for another one of the same name', async () => {
    await send('DELETE', `/${integrationId}`);
    await send('POST', '', zed(other, { app: 'Zed!' }));
    expect(await approve(interruptId)).toContain('the tool has changed since it was asked for');
    expect([callsAt(shown), callsAt(other)]).toEqual([0, 0]);
  });

  it('is valid for the address at that time', async () => {
    await send('PUT', `/${integrationId}`, zed(other));
    expect(await approve(interruptId)).toContain('the tool has changed since it was asked for');
    expect([callsAt(shown), callsAt(other)]).toEqual([0, 0]);
  });

  it('stays valid after a change that keeps the address', async () => {
    const httpHeaders = { 'X-Key': { type: 'secret', value: 'rotated' } };
    await send('PUT', `/${integrationId}`, zed(shown, { httpHeaders, excludedTools: ['another'] }));
    await approve(interruptId);
    expect(callsAt(shown)).toBe(1);
  });

  it('does not allow a call of a tool that was excluded meanwhile', async () => {
    await send('PUT', `/${integrationId}`, zed(shown, { excludedTools: ['echo'] }));
    expect(await approve(interruptId)).toContain('There is no tool named mcp__zed__echo');
    expect(callsAt(shown)).toBe(0);
  });
});
