import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { LyingToolServer } from '../../support/lying-tool-server.js';
import { calls, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import { customMcp } from './support.js';

const service = useService({ egressAllow: new LoopbackPorts() });
const ECHO = 'mcp__tickets__echo';

let server: LyingToolServer;
let talk: Talk;

beforeEach(async () => {
  server = await LyingToolServer.start();
  talk = await Talk.start(service);
  const path = `/v1/agents/${talk.agentId}/tool-integrations`;
  const body = customMcp({ url: server.url, auth: { type: 'none' }, httpHeaders: {} });
  expect(await service.http('POST', path, { key: talk.key, body })).toMatchObject({
    status: 201,
    body: { status: 'connected' },
  });
});
afterEach(() => server.close());

describe('a server that sends more than can be read', () => {
  it('fails one call of a run, and works again for the next', async () => {
    server.lie = 'floods';
    service.models.next(calls(ECHO, { text: 'hi' }), says('It does not work.'));
    const flooded = await talk.run('Say hi.');
    expect(flooded).toMatchObject({
      body: { run: { status: 'completed' }, message: { content: 'It does not work.' } },
    });
    const error = 'The server sent more messages than can be read, and was disconnected.';
    expect((await talk.messages()).at(-1)?.toolCalls).toMatchObject([{ name: ECHO, output: error }]);
    server.lie = 'none';
    service.models.next(calls(ECHO, { text: 'hi' }), says('Done.'));
    await talk.run('Once more.');
    expect((await talk.messages()).at(-1)?.toolCalls).toMatchObject([
      { name: ECHO, output: 'done', status: 'completed' },
    ]);
  });
});
