import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import { connect, customServer } from '../../support/tool-integrations.js';
import { said, TOOL_SERVER_KINDS, ToolServer } from '../../support/tool-server.js';

const service = useService({ egressAllow: new LoopbackPorts() });

describe.each(TOOL_SERVER_KINDS)('calls of one round, over one connection (%s)', (kind) => {
  let server: ToolServer;
  let finished: string[];
  let releaseSlow: () => void;

  beforeAll(async () => {
    finished = [];
    const released = new Promise<void>((resolve) => (releaseSlow = resolve));
    server = await ToolServer.start(
      kind,
      {
        name: 'slow',
        run: async () => {
          await released;
          finished.push('slow');
          return said('slowly');
        },
      },
      {
        name: 'fast',
        // The slow call ends after this one: sequential calls would never end.
        run: ({ of }) => {
          finished.push(String(of));
          if (finished.length === 3) releaseSlow();
          return said(`fast ${String(of)}`);
        },
      },
    );
  });
  afterAll(() => server.close());

  it('run concurrently, and each has its own result', async () => {
    const talk = await Talk.start(service);
    await connect(service, talk, customServer('app', server));
    const fast = ['a', 'b', 'c'].map((id) => ({ id, name: 'mcp__app__fast', input: { of: id } }));
    service.models.next(answers({ calls: [{ id: 's', name: 'mcp__app__slow' }, ...fast] }), says('Done.'));

    expect((await talk.run('Go')).body.run.status).toBe('completed');

    expect(finished.at(-1)).toBe('slow');
    expect(anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {})).toEqual([
      { id: 's', output: 'slowly', isError: false },
      ...['a', 'b', 'c'].map((id) => ({ id, output: `fast ${id}`, isError: false })),
    ]);
  });
});
