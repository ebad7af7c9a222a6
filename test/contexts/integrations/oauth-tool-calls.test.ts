import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import {
  addIntegration,
  authorizationUrl,
  type OAuthIntegration,
  readIntegration,
} from '../../support/oauth-integrations.js';
import { OAuthToolServer } from '../../support/oauth-tool-server.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { calls, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

const PAUSE_MS = 30_000;

const tools = await OAuthToolServer.start();
const clock = new ManualClock();
const service = useService({ clock, environment: { EGRESS_ALLOW: `127.0.0.1:${tools.port}` } });

let talk: Talk;
let at: OAuthIntegration;

beforeEach(async () => {
  tools.reset();
  talk = await Talk.start(service);
  at = await addIntegration(service, {
    ...{ key: talk.key, organizationId: talk.organization.id, agentIds: [talk.agentId], url: tools.url },
  });
});
afterAll(() => tools.close());

async function signIn(): Promise<URL> {
  const url = await authorizationUrl(service, at);
  expect((await fetch(await tools.consent(url), { redirect: 'manual' })).status).toBe(302);
  return new URL(url);
}

/** A run whose model calls the tool. @returns the result that the model reads */
async function callTool(): Promise<{ readonly output: string; readonly isError: boolean }> {
  service.models.next(calls('mcp__protected__who', {}), says('Done.'));
  const { body } = await talk.run('Who?');
  expect(body.run.status).toBe('completed');
  const [result] = anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {}).slice(-1);
  if (!result) throw new Error('The model was given no result');
  return { output: result.output, isError: result.isError };
}

async function untilStatus(status: string): Promise<Readonly<Record<string, unknown>>> {
  await until(async () => (await readIntegration(service, at))['status'] === status, `the status is ${status}`);
  return readIntegration(service, at);
}

const WANTS_MORE = expect.stringMatching(/requires more permissions/);

describe('a call for which the sign-in gave too few permissions', () => {
  beforeEach(() => {
    tools.behaviour.challengedScope = 'read';
    tools.behaviour.requiredScope = 'write';
  });

  it('is an error that the model reads, until a person signs in with all permissions', async () => {
    expect((await signIn()).searchParams.get('scope')).toBe('read');
    expect(await readIntegration(service, at)).toMatchObject({ status: 'connected' });
    tools.tokenRequests.length = 0;

    expect(await callTool()).toEqual({ output: WANTS_MORE, isError: true });
    expect(await untilStatus('needs_authorization')).toMatchObject({ error: WANTS_MORE, tools: [{ name: 'who' }] });
    const test = `/v1/agents/${at.agentId}/tool-integrations/${at.server.integrationId}/test`;
    expect(await service.http('POST', test, { key: at.key })).toMatchObject({
      status: 200,
      body: { ok: false, error: WANTS_MORE },
    });
    // A refresh gives no more permissions than the sign-in.
    expect(tools.tokenRequests).toHaveLength(0);

    expect((await signIn()).searchParams.get('scope')).toBe('read write');
    expect(await readIntegration(service, at)).toMatchObject({ status: 'connected', error: null });
    expect(await callTool()).toEqual({ output: 'Bearer [redacted]', isError: false });
  });

  it('is reported as such even if its token had to be replaced first', async () => {
    await signIn();
    await clock.advance(PAUSE_MS);
    tools.revokeAccessTokens();
    expect(await callTool()).toEqual({ output: WANTS_MORE, isError: true });
    await untilStatus('needs_authorization');
    expect((await signIn()).searchParams.get('scope')).toBe('read write');
  });
});

describe('a server that refuses every token', () => {
  it('causes one refresh in 30 seconds, however many calls there are, and works again once it accepts tokens', async () => {
    await signIn();
    await clock.advance(PAUSE_MS);
    tools.tokenRequests.length = 0;
    tools.behaviour.tool = 'unauthorized';
    for (let count = 0; count < 3; count += 1) expect(await callTool()).toMatchObject({ isError: true });
    await untilStatus('needs_authorization');
    expect(tools.tokenRequests).toHaveLength(1);

    await clock.advance(PAUSE_MS);
    for (let count = 0; count < 3; count += 1) expect(await callTool()).toMatchObject({ isError: true });
    expect(tools.tokenRequests).toHaveLength(2);

    tools.behaviour.tool = 'answers';
    await until(async () => !(await callTool()).isError, 'the tool answers');
    // A later run of the agent checks the server again.
    await clock.advance(PAUSE_MS + 1);
    await callTool();
    await untilStatus('connected');
    expect(tools.tokenRequests).toHaveLength(2);
  });
});
