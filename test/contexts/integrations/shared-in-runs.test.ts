import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { calls, says } from '../../support/scripted-models.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';
import { connect, customServer, removeIntegration } from '../../support/tool-integrations.js';
import { ToolServer } from '../../support/tool-server.js';

const service = useService({ egressAllow: new LoopbackPorts() });
let server: ToolServer;

beforeAll(async () => {
  server = await ToolServer.start('streamableHttp', { name: 'look' });
});
afterAll(() => server.close());

/** A run in which the model calls the tool. */
async function look(talk: Talk, from: string): Promise<void> {
  service.models.next(calls('mcp__crm__look', { from }), says('Seen.'));
  const { body } = await talk.run('Look');
  expect(body.message).toMatchObject({
    content: 'Seen.',
    toolCalls: [{ status: 'completed', output: `look {"from":"${from}"}` }],
  });
}

describe('an integration that two agents of an organization share', () => {
  it('has one connection for both, and stays with one agent when the other removes it', async () => {
    const one = await Talk.start(service);
    const two = await one.withAnotherAgent();
    const { id } = await connect(service, one, customServer('crm', server));
    expect((await connect(service, two, customServer('crm', server))).id).toBe(id);
    await look(one, 'one');
    const connections = server.connections;
    await look(two, 'two');
    await look(one, 'one again');
    expect(server.connections).toBe(connections);
    expect(server.connections).toBeLessThanOrEqual(2);

    await removeIntegration(service, one, id);
    await look(two, 'two alone');
    service.models.reset();
    service.models.next(calls('mcp__crm__look'), says('Alas.'));
    await one.run('Look');
    expect(sentToolNames(service.models.requests[0]?.body ?? {})).toEqual([]);
    expect(server.calls.map(({ input }) => (input as { from: string }).from)).toEqual([
      'one',
      'two',
      'one again',
      'two alone',
    ]);
  });

  it('shares no connection with another organization at the same server', async () => {
    const [one, two] = [await Talk.start(service), await Talk.start(service)];
    const before = server.connections;
    const [first, second] = [
      await connect(service, one, customServer('crm', server)),
      await connect(service, two, customServer('crm', server)),
    ];
    expect(first.id).not.toBe(second.id);
    await look(one, 'one');
    await look(two, 'two');
    expect(server.connections).toBeGreaterThanOrEqual(before + 2);
    const asked = server.requests.filter(({ method }) => method === 'POST');
    const sessions = asked.slice(-2).map(({ headers }) => headers['mcp-session-id']);
    expect(new Set(sessions).size).toBe(2);
  });
});
