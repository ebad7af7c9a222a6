import { EventSchema } from '@ag-ui/core/schemas';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { approve, ASKS_ALWAYS, ASKS_FOR_CHANGES, decline } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { endOf, type InterruptView, Talk } from '../../support/talk.js';
import { connect, customServer } from '../../support/tool-integrations.js';
import { ToolServer } from '../../support/tool-server.js';

const service = useService({ egressAllow: new LoopbackPorts() });
let server: ToolServer;

beforeAll(async () => {
  server = await ToolServer.start(
    'streamableHttp',
    { name: 'look', annotations: { readOnlyHint: true } },
    { name: 'pay', annotations: { readOnlyHint: false } },
    { name: 'guess' },
    { name: 'claim', annotations: { destructiveHint: false, idempotentHint: true } },
  );
});
afterAll(() => server.close());
beforeEach(() => server.reset());

const shop = (tool: string): string => `mcp__shop__${tool}`;

async function start(settings: object): Promise<Talk> {
  const talk = await Talk.start(service, { ...settings });
  await connect(service, talk, customServer('shop', server));
  return talk;
}

/** A round in which the model calls these tools; a call's id is the tool's name by default. */
const round = (...tools: (string | [id: string, tool: string])[]): ReturnType<typeof answers> =>
  answers({
    text: 'Shall I?',
    calls: tools.map((tool) => {
      const [id, name] = typeof tool === 'string' ? [tool, tool] : tool;
      return { id, name: shop(name), input: { of: id } };
    }),
  });

const arrived = (): unknown[] => server.calls.map(({ name, input }) => [name, (input as { of?: string }).of]);

function toolResults(): { id: string; output: string; isError: boolean }[] {
  return anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {});
}

function byCall(interrupts: readonly InterruptView[], id: string): InterruptView {
  const found = interrupts.find(({ toolCallId }) => toolCallId === id);
  if (!found) throw new Error(`There is no request for approval of ${id}`);
  return found;
}

describe('an agent that requires approval of every call', () => {
  it('waits for approval of server tools too, read-only ones included, and sends the server nothing before', async () => {
    const talk = await start(ASKS_ALWAYS);
    service.models.next(round('look', 'pay'));
    const { body } = await talk.run('Go');
    expect(body.run.status).toBe('requires_action');
    expect(body.interrupts.map(({ metadata }) => metadata)).toEqual([
      { tool: shop('look'), input: { of: 'look' } },
      { tool: shop('pay'), input: { of: 'pay' } },
    ]);
    expect(arrived()).toEqual([]);
  });

  it('calls only the approved tools when some are declined', async () => {
    const talk = await start(ASKS_ALWAYS);
    service.models.next(round(['a', 'pay'], ['b', 'pay'], ['c', 'look'], ['d', 'guess']), says('Two of four.'));
    const { interrupts } = (await talk.run('Go')).body;
    const answered = await talk.resume(
      { interruptId: byCall(interrupts, 'd').id, status: 'cancelled' },
      approve(byCall(interrupts, 'c')),
      decline(byCall(interrupts, 'b'), 'too dear'),
      approve(byCall(interrupts, 'a')),
    );

    expect(answered.body).toMatchObject({
      run: { status: 'completed' },
      message: { content: 'Two of four.' },
      interrupts: [],
    });
    expect(arrived().sort()).toEqual([
      ['look', 'c'],
      ['pay', 'a'],
    ]);
    expect(toolResults().sort((one, other) => (one.id < other.id ? -1 : 1))).toEqual([
      { id: 'a', output: 'pay {"of":"a"}', isError: false },
      { id: 'b', output: expect.stringContaining('too dear'), isError: true },
      { id: 'c', output: 'look {"of":"c"}', isError: false },
      { id: 'd', output: expect.any(String), isError: true },
    ]);
    const [, before] = await talk.messages();
    expect(before?.toolCalls?.map(({ id, status }) => [id, status])).toEqual([
      ['a', 'approved'],
      ['b', 'denied'],
      ['c', 'approved'],
      ['d', 'denied'],
    ]);
  });

  it('calls nothing when all calls are declined, or when a message arrives instead', async () => {
    const talk = await start(ASKS_ALWAYS);
    service.models.next(round('pay', 'guess'), says('Then not.'), round('pay'), says('Never mind.'));
    const asked = await talk.run('Go');
    expect((await talk.resume(...asked.body.interrupts.map((each) => decline(each)))).body.message?.content).toBe(
      'Then not.',
    );
    await talk.run('Go');
    expect((await talk.run('Leave it')).body.message?.content).toBe('Never mind.');
    expect(toolResults().at(-1)).toMatchObject({
      id: 'pay',
      output: expect.stringContaining('next message'),
      isError: true,
    });
    expect(arrived()).toEqual([]);
  });
});

describe('an agent that requires approval of changes', () => {
  it('calls tools with readOnlyHint at once, and waits for approval of all others, whatever their other hints', async () => {
    const talk = await start(ASKS_FOR_CHANGES);
    service.models.next(round('look', 'pay', 'guess', 'claim'), says('All done.'));
    const { body } = await talk.run('Go');
    expect(body.interrupts.map(({ toolCallId }) => toolCallId)).toEqual(['pay', 'guess', 'claim']);
    expect(arrived()).toEqual([['look', 'look']]);
    expect((await talk.resume(...body.interrupts.map(approve))).body.message?.content).toBe('All done.');
    expect(
      arrived()
        .map((each) => (each as string[])[0])
        .sort(),
    ).toEqual(['claim', 'guess', 'look', 'pay']);
    expect(toolResults().map(({ id, isError }) => [id, isError])).toEqual([
      ['look', false],
      ['pay', false],
      ['guess', false],
      ['claim', false],
    ]);
  });

  it('declines calls that need approval on chat completions, which have no approvals', async () => {
    const talk = await start(ASKS_FOR_CHANGES);
    service.models.next(round('look', 'pay'), says('I could not pay.'));
    const completion = { assistant_id: talk.agentId, messages: [{ role: 'user', content: 'Pay' }] };
    const { body } = await service.http('POST', '/v1/chat/completions', { key: talk.key, body: completion });
    expect(body).toMatchObject({
      choices: [{ message: { content: expect.stringContaining('I could not pay.') }, finish_reason: 'stop' }],
    });
    expect(arrived()).toEqual([['look', 'look']]);
    expect(toolResults()).toMatchObject([
      { id: 'look', isError: false },
      { id: 'pay', output: expect.stringContaining('no way to ask for it'), isError: true },
    ]);
  });
});

describe('a call of a server tool that waits for approval', () => {
  it('is an AG-UI interrupt with an expiry, and can be read from the run', async () => {
    const talk = await start(ASKS_FOR_CHANGES);
    service.models.next(round('pay'));
    const events = await talk.streamed('Go');
    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    const { outcome, result } = endOf(events) as unknown as {
      outcome: { interrupts: object[] };
      result: { run: { id: string } };
    };
    expect(outcome).toMatchObject({
      type: 'interrupt',
      interrupts: [
        {
          reason: 'tool_approval',
          toolCallId: 'pay',
          metadata: { tool: shop('pay') },
          expiresAt: expect.stringMatching(/Z$/),
        },
      ],
    });
    expect((await talk.storedAs(result.run.id)).body.interrupts).toEqual(outcome.interrupts);
  });

  it('can be approved at a process that has neither the run nor a connection', async () => {
    const talk = await start(ASKS_FOR_CHANGES);
    service.models.next(round(['a', 'pay'], ['b', 'pay']), says('One is paid.'));
    const { body } = await talk.run('Go');
    const restarted = await service.replica();
    const later = talk.on(restarted);
    const { interrupts } = (await later.storedAs(body.run.id)).body;
    expect(interrupts).toEqual(body.interrupts);
    const connections = server.connections;
    const resumed = await later.resume(approve(byCall(interrupts, 'b')), decline(byCall(interrupts, 'a')));
    expect(resumed.body.message?.content).toBe('One is paid.');
    expect(arrived()).toEqual([['pay', 'b']]);
    expect(server.connections).toBe(connections + 1);
    await restarted.close();
  });

  it('is not made if the tool no longer exists: the model reads an error', async () => {
    const talk = await start(ASKS_FOR_CHANGES);
    service.models.next(calls(shop('guess')), says('It is gone.'));
    const { body } = await talk.run('Go');
    const { body: listed } = await service.http<{ integrations: { id: string }[] }>(
      'GET',
      `/v1/agents/${talk.agentId}/tool-integrations`,
      { key: talk.key },
    );
    await service.http('DELETE', `/v1/agents/${talk.agentId}/tool-integrations/${listed.integrations[0]?.id ?? ''}`, {
      key: talk.key,
    });
    expect((await talk.resume(...body.interrupts.map(approve))).body.message?.content).toBe('It is gone.');
    expect(toolResults()).toMatchObject([
      { output: expect.stringContaining('no tool named mcp__shop__guess'), isError: true },
    ]);
    expect(arrived()).toEqual([]);
  });
});
