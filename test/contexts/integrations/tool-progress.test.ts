import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useService, type StreamedEvent } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { calls, says } from '../../support/scripted-models.js';
import { endOf, Talk, textOf, typesOf } from '../../support/talk.js';
import { connect, customServer } from '../../support/tool-integrations.js';
import { said, ToolServer } from '../../support/tool-server.js';

const service = useService({ egressAllow: new LoopbackPorts() });
let server: ToolServer;

beforeAll(async () => {
  server = await ToolServer.start('streamableHttp', { name: 'weather', run: () => said('rain-canary') });
});
afterAll(() => server.close());

async function streamed(settings: object): Promise<{ talk: Talk; events: StreamedEvent[] }> {
  const talk = await Talk.start(service, { ...settings });
  await connect(service, talk, customServer('sky', server));
  service.models.next(calls('mcp__sky__weather', { city: 'Oslo' }, 'c1'), says('It rains.'));
  return { talk, events: await talk.streamed('Weather?') };
}

describe('a call of a server’s tool', () => {
  it('is in the stream and the stored message while toolProgress is on', async () => {
    const { talk, events } = await streamed({ toolProgress: { enabled: true } });
    expect(typesOf(events).filter((type) => type.startsWith('TOOL_CALL'))).toEqual([
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT'],
    ]);
    const call = {
      id: 'c1',
      name: 'mcp__sky__weather',
      input: { city: 'Oslo' },
      output: 'rain-canary',
      status: 'completed',
    };
    expect((await talk.messages())[1]?.toolCalls).toEqual([call]);
    expect(endOf(events)).toMatchObject({ result: { message: { toolCalls: [call] } } });
  });

  it('is only in the model’s requests and the trace while toolProgress is off', async () => {
    const { talk, events } = await streamed({ toolProgress: { enabled: false } });
    expect(textOf(events)).toBe('It rains.');
    expect(JSON.stringify([events, await talk.messages()])).not.toMatch(/canary|mcp__|TOOL_CALL|toolCalls/);
    expect(JSON.stringify(service.models.requests.at(-1)?.body)).toContain('rain-canary');
    expect((await talk.trace()).steps).toContainEqual(
      expect.objectContaining({ name: 'mcp__sky__weather', output: 'rain-canary' }),
    );
  });
});
