import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it, jest } from '@jest/globals';
import type { ToolEffect } from '../../../src/conversations/index.js';
import { RunRepository } from '../../../src/conversations/persistence/run.repository.js';
import { RunLog } from '../../../src/platform/run-log/index.js';
import { approve, ASKS_ALWAYS, ASKS_FOR_CHANGES, NotingTool } from '../../support/approvals.js';
import { useService, type StreamedEvent, until } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { during, endlessTool, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, Talk, textOf, typesOf } from '../../support/talk.js';

const STORE_AGAIN_MS = 2_000;

const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });

function toolResults() {
  return anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {});
}

const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);

describe('a tool call that needs approval', () => {
  it('ends the run as requires_action with an AG-UI interrupt; its text is kept and the tool not called', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(answers({ text: 'I will pay.', calls: [{ id: 'c1', name: 'pay', input: { sum: 5 } }] }));

    const events = await talk.streamed('Pay five');

    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    expect(typesOf(events)).toEqual([
      ...['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'RUN_FINISHED'],
    ]);
    const interrupt = {
      id: UUID,
      reason: 'tool_approval',
      message: expect.stringContaining('pay'),
      toolCallId: 'c1',
      metadata: { tool: 'pay', input: { sum: 5 } },
      responseSchema: expect.objectContaining({ type: 'object', required: ['approved'] }),
    };
    const [, stored] = await talk.messages();
    expect(endOf(events)).toMatchObject({
      outcome: { type: 'interrupt', interrupts: [interrupt] },
      result: { run: { status: 'requires_action', error: null }, message: stored },
    });
    expect(stored).toMatchObject({
      content: 'I will pay.',
      status: 'completed',
      toolCalls: [{ id: 'c1', name: 'pay', input: { sum: 5 }, status: 'awaiting_approval' }],
    });
    expect(pay.inputs).toEqual([]);
    expect(service.models.requests).toHaveLength(1);
  });

  it('is an interrupt in the responses of waiting, reading, cancelling and repeating a run', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    during(talk.threadId, { tools: [new NotingTool('pay').offered] });
    service.models.next(calls('pay', { sum: 5 }));
    const named = { 'idempotency-key': 'first' };

    const { status, body } = await talk.post({ message: { role: 'user', content: 'Pay' } }, named);

    expect([status, body.run.status]).toEqual([200, 'requires_action']);
    expect(body.interrupts).toMatchObject([
      { id: UUID, toolCallId: 'call_pay', metadata: { tool: 'pay', input: { sum: 5 } } },
    ]);
    expect((await talk.storedAs(body.run.id)).body).toEqual(body);
    const cancelled = await service.http('POST', `${talk.path}/runs/${body.run.id}/cancel`, { key: talk.key });
    expect(cancelled.body).toEqual(body);
    expect((await talk.post({ message: { role: 'user', content: 'Pay' } }, named)).body).toEqual(body);
    expect(service.models.requests).toHaveLength(1);
  });

  it('is on the stream of callers that rejoin the run or repeat the request, also after its events have expired', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const clockTool = new NotingTool('clock', 'exempt');
    during(talk.threadId, { tools: [new NotingTool('pay').offered, clockTool.offered] });
    service.models.next(
      answers({
        text: 'So.',
        calls: [
          { id: 'a', name: 'clock' },
          { id: 'b', name: 'pay' },
        ],
      }),
    );
    const body = { message: { role: 'user', content: 'Pay' } };
    const named = { 'idempotency-key': 'streamed' };

    const first = await talk.streamedBody(body, named);
    const { run } = endOf(first)['result'] as { run: { id: string } };
    const rejoined = await talk.streamedBody({ rejoin: { runId: run.id } });
    const read = jest.spyOn(service.app.get(RunLog), 'read');
    const replay = (): Promise<StreamedEvent[]> => {
      read.mockResolvedValueOnce(null);
      return talk.streamedBody(body, named);
    };
    const replayed = await replay();

    expect(rejoined).toEqual(first);
    expect(endOf(replayed)).toEqual(endOf(first));
    expect(service.models.requests).toHaveLength(1);
    service.models.next(says('Fine.'));
    await talk.run('No');
    for (const events of [replayed, await replay()]) {
      for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
      expect(endOf(events)['outcome']).toEqual(endOf(first)['outcome']);
      const results = events.flatMap(({ event }) => (event.type === 'TOOL_CALL_RESULT' ? [event['toolCallId']] : []));
      expect(results).toEqual(['a']);
    }
    read.mockRestore();
  });

  it('asks without tool events when toolProgress is off', async () => {
    const talk = await Talk.start(service, { ...ASKS_ALWAYS, toolProgress: { enabled: false } });
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(calls('pay', { sum: 5 }), says('Paid.'));

    const events = await talk.streamed('Pay');

    expect(typesOf(events)).toEqual(['RUN_STARTED', 'RUN_FINISHED']);
    const { interrupts } = endOf(events)['outcome'] as { interrupts: [{ id: string; metadata: object }] };
    expect(interrupts[0].metadata).toEqual({ tool: 'pay', input: { sum: 5 } });
    const resumed = await talk.streamedBody({ resume: [approve(interrupts[0])] });
    expect(typesOf(resumed).filter((type) => type.startsWith('TOOL'))).toEqual([]);
    expect(textOf(resumed)).toBe('Paid.');
    expect(pay.inputs).toEqual([{ sum: 5 }]);
  });

  it('gives the thread its title, as any first exchange does', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    during(talk.threadId, { tools: [new NotingTool('pay').offered] });
    service.models.next(calls('pay'));
    await talk.run('Pay the rent');
    const { body } = await service.http('GET', talk.path, { key: talk.key });
    expect(body).toMatchObject({ title: 'Pay the rent' });
  });

  it('is a step of the trace, whose status is requires_action', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    during(talk.threadId, { tools: [new NotingTool('pay').offered] });
    service.models.next(calls('pay', { sum: 5 }));
    const { body } = await talk.run('Pay');
    expect(await talk.trace()).toMatchObject({
      status: 'requires_action',
      input: 'Pay',
      steps: [
        { type: 'model' },
        {
          type: 'tool',
          name: 'pay',
          input: { sum: 5 },
          output: { awaitsApproval: body.interrupts[0]?.id },
          error: null,
        },
      ],
    });
  });

  const flags: readonly [string, Readonly<Record<string, unknown>>, ToolEffect, boolean][] = [
    ['is exempt', ASKS_ALWAYS, 'exempt', false],
    ['is exempt', ASKS_FOR_CHANGES, 'exempt', false],
    ['only reads', ASKS_ALWAYS, 'read_only', true],
    ['only reads', ASKS_FOR_CHANGES, 'read_only', false],
    ['changes something', ASKS_ALWAYS, 'changes_resources', true],
    ['changes something', ASKS_FOR_CHANGES, 'changes_resources', true],
    ['changes something', {}, 'changes_resources', false],
  ];

  it.each(flags)('of a tool that %s, with %j: %s, needs approval: %s', async (_what, settings, effect, asks) => {
    const talk = await Talk.start(service, settings);
    const thing = new NotingTool('thing', effect);
    during(talk.threadId, { tools: [thing.offered] });
    service.models.next(calls('thing'), says('Done.'));

    const { body } = await talk.run('Go');

    expect(body.run.status).toBe(asks ? 'requires_action' : 'completed');
    expect(body.interrupts).toHaveLength(asks ? 1 : 0);
    expect(thing.inputs).toHaveLength(asks ? 0 : 1);
  });
});

describe('several calls, some of which need approval', () => {
  it('end the run once the others have results; the model is called when all have one', async () => {
    const talk = await Talk.start(service, ASKS_FOR_CHANGES);
    const [look, pay] = [new NotingTool('look', 'read_only'), new NotingTool('pay')];
    during(talk.threadId, { tools: [look.offered, pay.offered] });
    service.models.next(
      answers({
        calls: [
          { id: 'p1', name: 'pay', input: { sum: 1 } },
          { id: 'l', name: 'look' },
          { id: 'x', name: 'invented' },
          { id: 'p2', name: 'pay', input: { sum: 2 } },
        ],
      }),
      says('Done.'),
    );

    const asked = await talk.run('Go');

    expect(asked.body.interrupts.map(({ toolCallId }) => toolCallId)).toEqual(['p1', 'p2']);
    expect([look.inputs.length, pay.inputs.length, service.models.requests.length]).toEqual([1, 0, 1]);
    expect(asked.body.message?.toolCalls?.map(({ id, status }) => [id, status])).toEqual([
      ['p1', 'awaiting_approval'],
      ['l', 'completed'],
      ['x', 'failed'],
      ['p2', 'awaiting_approval'],
    ]);

    const [first, second] = asked.body.interrupts;
    if (!first || !second) throw new Error('two interrupts');
    expect(await talk.resume(approve(second), approve(first))).toMatchObject({
      status: 200,
      body: { message: { content: 'Done.' } },
    });
    expect([look.inputs.length, pay.inputs]).toEqual([1, [{ sum: 1 }, { sum: 2 }]]);
    expect(toolResults().map(({ id, isError }) => [id, isError])).toEqual([
      ['p1', false],
      ['l', false],
      ['x', true],
      ['p2', false],
    ]);
  });

  it('are not asked about when the run is aborted before: calls that did not run are denied, results are kept', async () => {
    const talk = await Talk.start(service, { ...ASKS_FOR_CHANGES, timeoutMinutes: 1 });
    const slow = endlessTool('read_only');
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [slow.offered, pay.offered, tool('look', () => output('seen'), 'read_only')] });
    service.models.next(
      answers({
        calls: [
          { id: 's', name: 'slow' },
          { id: 'p', name: 'pay' },
          { id: 'l', name: 'look' },
        ],
      }),
    );
    const streaming = talk.streamed('Go');
    await slow.called;
    await clock.advance(60_000);

    const events = await streaming;
    expect(endOf(events)).toMatchObject({ type: 'RUN_ERROR', code: 'run_timeout' });
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([
      { id: 's', status: 'unknown' },
      { id: 'p', status: 'denied', output: expect.stringContaining('not made') },
      { id: 'l', status: 'completed', output: 'seen' },
    ]);
    service.models.next(says('Back'));
    await talk.run('Again');
    expect(toolResults().map(({ id, isError }) => [id, isError])).toEqual([
      ['s', true],
      ['p', true],
      ['l', false],
    ]);
    expect(pay.inputs).toEqual([]);
  });
});

describe('a run with requests for approval whose end could not be stored', () => {
  it('ends as failed without requests: callers see only what is stored', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(calls('pay'), says('Back.'));
    const finish = jest.spyOn(service.app.get(RunRepository), 'finish').mockRejectedValueOnce(new Error('lost'));

    const events = await talk.streamed('Pay');

    expect(endOf(events)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    await clock.advance(STORE_AGAIN_MS);
    await until(async () => (await talk.storedRun())?.status === 'failed', 'the end is stored');
    finish.mockRestore();
    const { body } = await talk.storedAs((await talk.storedRun())?.id ?? '');
    expect(body).toMatchObject({
      interrupts: [],
      message: { status: 'incomplete', toolCalls: [{ status: 'denied' }] },
    });
    await talk.run('Again');
    expect(toolResults()).toEqual([{ id: 'call_pay', output: expect.stringContaining('not made'), isError: true }]);
    expect(pay.inputs).toEqual([]);
  });
});

describe('hooks before a tool call', () => {
  it('run before the request for approval: a denied call needs no approval', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, {
      tools: [pay.offered],
      hooks: { beforeToolCall: () => Promise.resolve({ decision: 'deny', reason: 'Not on Sundays.' }) },
    });
    service.models.next(calls('pay'), says('Sorry.'));

    expect((await talk.run('Pay')).body).toMatchObject({ run: { status: 'completed' }, interrupts: [] });

    expect(toolResults()).toEqual([{ id: 'call_pay', output: 'Not on Sundays.', isError: true }]);
    expect(pay.inputs).toEqual([]);
  });

  it('that change the input change the request and the call; a resumed run does not call them again', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    const asked: string[] = [];
    during(talk.threadId, {
      tools: [pay.offered],
      hooks: {
        beforePrompt: ({ userMessage }) => {
          asked.push(`prompt ${userMessage?.text ?? 'none'}`);
          return Promise.resolve({ decision: 'continue', additionalContext: [] });
        },
        beforeToolCall: (_run, { input }) => {
          asked.push(`call ${JSON.stringify(input)}`);
          return Promise.resolve({ decision: 'allow', input: { sum: 1 } });
        },
        afterToolCall: () => Promise.resolve(['Noted.']),
      },
    });
    service.models.next(calls('pay', { sum: 5 }), says('Paid one.'));

    const { body } = await talk.run('Pay');
    expect(body.interrupts[0]?.metadata.input).toEqual({ sum: 1 });
    expect(body.message?.toolCalls).toMatchObject([{ input: { sum: 1 } }]);
    await talk.resume(...body.interrupts.map(approve));

    expect(pay.inputs).toEqual([{ sum: 1 }]);
    expect(asked).toEqual(['prompt Pay', 'call {"sum":5}']);
    expect(toolResults()).toEqual([{ id: 'call_pay', output: 'pay {"sum":1}\n\nNoted.', isError: false }]);
  });
});
