import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it, jest } from '@jest/globals';
import { RunLog } from '../../../src/platform/run-log/index.js';
import { approve, ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { clientTool, resultOf } from '../../support/client-tools.js';
import { message, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { AGENT_WIRES, anthropicWire, type ProviderWire } from '../../support/provider-wire.js';
import { answers, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, type InterruptView, type RunResult, Talk, typesOf } from '../../support/talk.js';

const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });

const HIDDEN = { toolProgress: { enabled: false } };
const WEATHER = clientTool('weather', { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] });

/** A thread whose last run waits for the weather in Oslo. */
async function askForWeather(agent: Readonly<Record<string, unknown>> = {}): Promise<{
  readonly talk: Talk;
  readonly asked: RunResult;
  readonly interrupt: InterruptView;
}> {
  const talk = await Talk.start(service, agent);
  service.models.next(
    answers({ text: 'Let me look.', calls: [{ id: 'w1', name: 'weather', input: { city: 'Oslo' } }] }),
  );
  const { body: asked } = await talk.run('Weather?', { tools: [WEATHER] });
  return { talk, asked, interrupt: asked.interrupts[0]! };
}

function lastRequest(): Record<string, unknown> {
  return service.models.requests.at(-1)?.body as Record<string, unknown>;
}

function toolNames(): string[] {
  return ((lastRequest()['tools'] ?? []) as { name: string }[]).map(({ name }) => name);
}

describe('a call of a tool of the caller', () => {
  it('ends the run as requires_action, with the call and its arguments as an interrupt', async () => {
    const { talk, asked } = await askForWeather();

    expect(asked).toMatchObject({
      run: { status: 'requires_action', error: null },
      message: {
        content: 'Let me look.',
        toolCalls: [{ id: 'w1', name: 'weather', input: { city: 'Oslo' }, status: 'awaiting_result' }],
      },
      interrupts: [
        { reason: 'client_tool_call', toolCallId: 'w1', metadata: { tool: 'weather', input: { city: 'Oslo' } } },
      ],
    });
    expect((await talk.storedAs(asked.run.id)).body).toEqual(asked);
    expect(toolNames()).toEqual(['weather']);
  });

  it('is answered by the next run, which has the tool too', async () => {
    const { talk, interrupt } = await askForWeather();
    service.models.next(says('It rains.'));

    const { status, body } = await talk.post({ resume: [resultOf(interrupt, { sky: 'rain' })] });

    expect([status, body.run.status, body.message?.content]).toEqual([200, 'completed', 'It rains.']);
    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([{ id: 'w1', output: '{"sky":"rain"}' }]);
    expect(toolNames()).toEqual(['weather']);
    const [, first] = await talk.messages();
    expect(first?.toolCalls).toMatchObject([{ status: 'completed', output: '{"sky":"rain"}' }]);
    expect((await talk.trace()).steps).toContainEqual(
      expect.objectContaining({ type: 'tool', name: 'weather', output: '{"sky":"rain"}', error: null }),
    );
  });

  it('that failed reaches the model as an error', async () => {
    const { talk, interrupt } = await askForWeather();
    service.models.next(says('No weather.'));
    await talk.post({ resume: [resultOf(interrupt, 'no network', true)] });
    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([{ output: 'no network', isError: true }]);
    const [, first] = await talk.messages();
    expect(first?.toolCalls).toMatchObject([{ status: 'failed', output: 'no network' }]);
  });

  it('that is cancelled reaches the model as refused', async () => {
    const { talk, interrupt } = await askForWeather();
    service.models.next(says('As you like.'));
    await talk.post({ resume: [{ interruptId: interrupt.id, status: 'cancelled' }] });
    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([
      { output: expect.stringContaining('declined'), isError: true },
    ]);
  });

  it('is declined by a message, and the model reads so', async () => {
    const { talk, asked } = await askForWeather();
    service.models.next(says('Fine.'));

    await talk.run('Never mind', { tools: [WEATHER] });

    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([
      { id: 'w1', output: expect.stringContaining('the user sent the next message'), isError: true },
    ]);
    const [, first] = await talk.messages();
    expect(first?.toolCalls).toMatchObject([{ status: 'denied' }]);
    expect((await talk.storedAs(asked.run.id)).body.interrupts).toEqual([]);
  });

  it('can be answered for 24 hours, and then reads as refused', async () => {
    const { talk, interrupt, asked } = await askForWeather();
    clock.jump(24 * 3_600_000);

    const late = await talk.post<{ message: string }>({ resume: [resultOf(interrupt, 'rain')] });

    expect([late.status, late.body.message]).toEqual([400, expect.stringContaining('has expired')]);
    expect((await talk.storedAs(asked.run.id)).body).toMatchObject({
      message: { toolCalls: [{ status: 'denied', output: expect.stringContaining('24 hours') }] },
      interrupts: [],
    });
    service.models.next(says('Hello again.'));
    await talk.run('Hi', { tools: [WEATHER] });
    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([{ output: expect.stringContaining('24 hours') }]);
  });

  it('is taken once: of two results at once one is answered, and the other changes nothing', async () => {
    const { talk, interrupt } = await askForWeather();
    service.models.next(says('It rains.'));

    const both = await Promise.all([
      talk.post({ resume: [resultOf(interrupt, 'rain')] }),
      talk.post({ resume: [resultOf(interrupt, 'sun')] }),
    ]);

    const statuses = both.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses[0]).toBe(200);
    expect([400, 409]).toContain(statuses[1]);
    const again = await talk.post({ resume: [resultOf(interrupt, 'rain')] });
    expect(again.status).toBe(400);
    expect(service.models.requests).toHaveLength(2);
  });

  it.each([
    ['an approval', { approved: true }, 'body/resume/0/payload must have result'],
    ['both', { approved: true, result: 'x' }, 'either approved or result'],
    ['neither', {}, 'either approved or result'],
    ['a list', { result: [1] }, 'body/resume/0/payload/result must be a string or an object'],
    ['too long a text', { result: 'x'.repeat(1_000_001) }, '1000000 characters'],
    ['arguments', { result: 'x', input: {} }, 'body/resume/0/payload/input'],
  ])('is not answered by %s', async (_what, payload, said) => {
    const { talk, interrupt } = await askForWeather();
    const refused = await talk.post<{ message: string }>({
      resume: [{ interruptId: interrupt.id, status: 'resolved', payload }],
    });
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(said)]);
    expect(service.models.requests).toHaveLength(1);
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([{ status: 'awaiting_result' }]);
  });

  it('is on the stream as a whole, whatever toolProgress says, and the end names it', async () => {
    const talk = await Talk.start(service, HIDDEN);
    during(talk.threadId, { tools: [tool('clock', () => output('noon'), 'exempt')] });
    service.models.next(
      answers({
        calls: [
          { id: 'c1', name: 'clock' },
          { id: 'w1', name: 'weather', input: { city: 'Oslo' } },
        ],
      }),
    );
    const body = { message: { role: 'user', content: 'Weather?' }, tools: [WEATHER] };
    const named = { 'idempotency-key': 'weather' };

    const events = await talk.streamedBody(body, named);

    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    expect(typesOf(events)).toEqual([
      'RUN_STARTED',
      'TOOL_CALL_START',
      'TOOL_CALL_ARGS',
      'TOOL_CALL_END',
      'RUN_FINISHED',
    ]);
    expect(events.map(({ event }) => event)).toContainEqual(
      expect.objectContaining({ type: 'TOOL_CALL_ARGS', toolCallId: 'w1', delta: '{"city":"Oslo"}' }),
    );
    expect(endOf(events)).toMatchObject({
      outcome: { type: 'success', pendingToolCallIds: ['w1'] },
      result: { run: { status: 'requires_action' } },
    });
    const read = jest.spyOn(service.app.get(RunLog), 'read').mockResolvedValueOnce(null);
    const replayed = await talk.streamedBody(body, named);
    expect(typesOf(replayed)).toEqual(typesOf(events));
    expect(endOf(replayed)).toEqual(endOf(events));
    read.mockRestore();
  });

  it('is seen by hooks: one that is denied is not shown, and results pass them', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, {
      hooks: {
        beforeToolCall: (_run, { name, input }) =>
          Promise.resolve(
            name === 'secret'
              ? { decision: 'deny', reason: 'Not this one.' }
              : { decision: 'allow', input: { ...input, units: 'metric' }, additionalContext: ['Be brief.'] },
          ),
        afterToolCall: (_run, _call, { output: given }) => Promise.resolve([`Checked ${given}.`]),
      },
    });
    service.models.next(
      answers({
        calls: [
          { id: 's1', name: 'secret' },
          { id: 'w1', name: 'weather', input: { city: 'Oslo' } },
        ],
      }),
    );

    const events = await talk.streamedBody({
      message: { role: 'user', content: 'Weather?' },
      tools: [WEATHER, clientTool('secret')],
    });

    expect(events.flatMap(({ event }) => event['toolCallId'] ?? [])).toEqual(['w1', 'w1', 'w1']);
    const result = endOf(events)['result'] as RunResult;
    const { interrupts } = (await talk.storedAs(result.run.id)).body;
    expect(interrupts).toMatchObject([{ metadata: { tool: 'weather', input: { city: 'Oslo', units: 'metric' } } }]);
    service.models.next(says('Fine.'));
    await talk.post({ resume: [resultOf(interrupts[0]!, 'rain')] });
    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([
      { id: 's1', output: 'Not this one.', isError: true },
      { id: 'w1', output: 'rain\n\nBe brief.\n\nChecked rain.' },
    ]);
  });

  it('waits together with approvals, which the same resume answers', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(
      answers({
        calls: [
          { id: 'p1', name: 'pay', input: { sum: 5 } },
          { id: 'w1', name: 'weather', input: { city: 'Oslo' } },
        ],
      }),
    );
    const events = await talk.streamedBody({ message: { role: 'user', content: 'Pay' }, tools: [WEATHER] });
    const { run } = endOf(events)['result'] as RunResult;

    expect(endOf(events)['outcome']).toMatchObject({ type: 'interrupt', interrupts: [{ toolCallId: 'p1' }] });
    const { interrupts } = (await talk.storedAs(run.id)).body;
    expect(interrupts.map(({ reason }) => reason)).toEqual(['tool_approval', 'client_tool_call']);
    const [approval, call] = interrupts as [InterruptView, InterruptView];
    expect((await talk.post({ resume: [approve(approval)] })).status).toBe(400);
    expect((await talk.post({ resume: [resultOf(call, 'rain')] })).status).toBe(400);
    service.models.next(says('Paid.'));

    const resumed = await talk.streamedBody({ resume: [resultOf(call, 'rain'), approve(approval)] });

    expect(pay.inputs).toEqual([{ sum: 5 }]);
    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([{ id: 'p1' }, { id: 'w1', output: 'rain' }]);
    const results = resumed.flatMap(({ event }) => (event.type === 'TOOL_CALL_RESULT' ? [event['toolCallId']] : []));
    expect(results).toEqual(['p1']);
  });

  it('that is malformed goes back to the model and is not shown', async () => {
    const talk = await Talk.start(service);
    const malformed = (exchange: Parameters<ReturnType<typeof says>>[0], wire: ProviderWire): Promise<void> =>
      exchange.sendAll(wire.toolCall({ id: 'w1', name: 'weather', inputParts: ['[1]'] }));
    service.models.next(malformed, says('Sorry.'));
    const events = await talk.streamedBody({ message: { role: 'user', content: 'Weather?' }, tools: [WEATHER] });
    expect(typesOf(events).filter((type) => type.startsWith('TOOL_CALL'))).toEqual([]);
    expect(endOf(events)).toMatchObject({ outcome: { type: 'success' }, result: { run: { status: 'completed' } } });
  });
});

describe('the tools of a caller', () => {
  it('are left out of a run that does not offer them, which reads earlier calls as text', async () => {
    const { talk, interrupt } = await askForWeather();
    service.models.next(says('It rains.'), says('As said.'));
    await talk.post({ resume: [resultOf(interrupt, 'rain')] });

    await talk.run('And now?');

    const request = JSON.stringify(lastRequest());
    expect(toolNames()).toEqual([]);
    expect(request).not.toContain('tool_use');
    expect(request).not.toContain('tool_result');
    expect(request).toContain('[Called the tool weather of the application: {\\"city\\":\\"Oslo\\"}]');
    expect(request).toContain('[The result of the tool weather of the application: rain]');
  });

  it('are those of the body where a run that resumes lists others', async () => {
    const { talk, interrupt } = await askForWeather();
    service.models.next(says('It rains.'));
    await talk.post({ resume: [resultOf(interrupt, 'rain')], tools: [clientTool('map')] });
    expect(toolNames()).toEqual(['map']);
    expect(JSON.stringify(lastRequest())).toContain('[The result of the tool weather of the application: rain]');
  });

  it('have schemas that providers accept, whatever the caller sends', async () => {
    const talk = await Talk.start(service);
    const deep = { type: 'object', properties: { a: { type: 'text', pattern: '(', $ref: '#/nowhere' } } };
    service.models.next(says('Hello.'));
    const { status } = await talk.run('Hi', { tools: [{ name: 'bare' }, clientTool('odd', deep)] });
    expect(status).toBe(200);
    expect(lastRequest()['tools']).toMatchObject([
      { name: 'bare', input_schema: { type: 'object', properties: {} } },
      { name: 'odd', input_schema: { type: 'object', properties: { a: {} } } },
    ]);
  });

  it.each([
    ['a bad name', [{ name: 'a b' }], 'body/tools/0/name'],
    ['a name twice', [{ name: 'a' }, { name: 'a' }], 'body/tools/1/name a is the name of two tools'],
    ['an unknown field', [{ name: 'a', strict: true }], 'body/tools/0/strict'],
    ['65 tools', Array.from({ length: 65 }, (_, index) => ({ name: `t${index}` })), 'body/tools'],
    ['too much text', [{ name: 'a', description: 'x'.repeat(200_000) }], '200000 characters'],
    ['no object as parameters', [{ name: 'a', parameters: [] }], 'body/tools/0/parameters'],
    ['the name of the search for tools', [{ name: 'find_tools' }], 'body/tools/0 has the name find_tools'],
  ])('are refused with %s, and nothing is stored', async (_what, tools, said) => {
    const talk = await Talk.start(service);
    const refused = await talk.run<{ message: string }>('Hi', { tools });
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(said)]);
    expect(await talk.messages()).toEqual([]);
  });

  it.each([
    ['memory_save', { longTermMemory: { enabled: true } }],
    ['web_search', { tools: { integrations: ['webSearch'] } }],
  ])('may not have the name of a tool of the agent, such as %s', async (name, settings) => {
    const talk = await Talk.start(service, settings);
    const refused = await talk.run<{ message: string }>('Hi', { tools: [clientTool('mine'), clientTool(name)] });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringContaining(`body/tools/1 has the name ${name}`),
    ]);
    expect(await talk.messages()).toEqual([]);
    const other = await Talk.start(service, { longTermMemory: { enabled: false } });
    service.models.next(says('Hello.'));
    expect((await other.run('Hi', { tools: [clientTool(name)] })).status).toBe(200);
  });

  it('of another organization are not answered by this one', async () => {
    const { interrupt } = await askForWeather();
    const stranger = await Talk.start(service);
    const refused = await stranger.post<{ message: string }>({ resume: [resultOf(interrupt, 'rain')] });
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('no open interrupt')]);
  });

  it('need no approval, even where every call of the agent does', async () => {
    const { asked } = await askForWeather(ASKS_ALWAYS);
    expect(asked.interrupts.map(({ reason }) => reason)).toEqual(['client_tool_call']);
  });
});

describe.each(AGENT_WIRES)('parallel calls of the caller and the agent on $provider', (wire) => {
  it('are all answered, in the order of the calls', async () => {
    const talk = await Talk.start(service, { provider: { type: wire.provider, model: wire.model } });
    during(talk.threadId, { tools: [tool('clock', () => output('noon'), 'exempt')] });
    const asked = [
      { id: 'a', name: 'weather', input: { city: 'Oslo' } },
      { id: 'b', name: 'clock', input: {} },
      { id: 'c', name: 'weather', input: { city: 'Rome' } },
    ];
    service.models.next(answers({ thinking: 'Hm.', opaque: 's', calls: asked }));
    const { body } = await talk.run('Weather?', { tools: [WEATHER] });
    expect(body.interrupts.map(({ metadata: { input } }) => input)).toEqual([{ city: 'Oslo' }, { city: 'Rome' }]);
    service.models.next(says('Done.'));

    const [oslo, rome] = body.interrupts as [InterruptView, InterruptView];
    const { body: resumed } = await talk.post({ resume: [resultOf(rome, 'sun'), resultOf(oslo, 'rain')] });

    expect(resumed.run.status).toBe('completed');
    expect(wire.toolResults(lastRequest()).map(({ output: given }) => given)).toEqual(['rain', 'noon', 'sun']);
  });
});

it('a run with tools of the caller that is cancelled while they wait for others ends without asking', async () => {
  const talk = await Talk.start(service);
  let release: () => void = () => undefined;
  const called = new Promise<void>((resolve) => {
    during(talk.threadId, {
      tools: [
        tool(
          'slow',
          () => {
            resolve();
            return new Promise((done) => (release = () => done({ output: 'late', isError: false })));
          },
          'exempt',
        ),
      ],
    });
  });
  service.models.next(
    answers({
      calls: [
        { id: 's1', name: 'slow' },
        { id: 'w1', name: 'weather', input: { city: 'Oslo' } },
      ],
    }),
  );
  const running = talk.post({ ...message('Weather?'), tools: [WEATHER] });
  await called;
  const [question] = await talk.messages();
  const runId = question?.runId ?? '';
  await service.http('POST', `${talk.path}/runs/${runId}/cancel`, { key: talk.key });
  release();

  const { body } = await running;

  expect(body).toMatchObject({ run: { status: 'cancelled' }, interrupts: [] });
  expect(body.message?.toolCalls).toMatchObject([{ status: 'unknown' }, { name: 'weather', status: 'denied' }]);
});
