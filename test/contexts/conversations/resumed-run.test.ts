import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it, jest } from '@jest/globals';
import { providerOf } from '../../../src/models/index.js';
import { RunReader } from '../../../src/conversations/persistence/run-reader.repository.js';
import { RunLog } from '../../../src/platform/run-log/index.js';
import { approve, askForPayments, ASKS_FOR_CHANGES, decline, NotingTool } from '../../support/approvals.js';
import { useService, until } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { AGENT_WIRES, PROVIDER_WIRES } from '../../support/provider-wire.js';
import { answers, calls, HeldReply, type ModelScript, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { endOf, type InterruptView, Talk, typesOf } from '../../support/talk.js';

const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

const tooLong: ModelScript = (exchange, wire) => {
  exchange.refuse(wire.contextTooLong.status, wire.contextTooLong.body);
};

describe.each(AGENT_WIRES)('a run that resumes another on $provider', (wire) => {
  const agent = { provider: { type: wire.provider, model: wire.model }, ...ASKS_FOR_CHANGES };
  const results = () => wire.toolResults(lastBody());

  it('makes the approved calls, sends their results with the provider state, and is complete history in later runs', async () => {
    const talk = await Talk.start(service, agent);
    const [look, pay] = [new NotingTool('look', 'read_only'), new NotingTool('pay')];
    during(talk.threadId, { tools: [look.offered, pay.offered] });
    service.models.next(
      says('Hello.'),
      answers({
        opaque: 'sealed-one',
        text: 'First.',
        calls: [
          { id: 'l', name: 'look' },
          { id: 'p', name: 'pay', input: { sum: 1 } },
        ],
      }),
      answers({
        opaque: 'sealed-two',
        text: 'Then.',
        calls: [
          { id: 'q', name: 'pay', input: { sum: 2 } },
          { id: 'r', name: 'pay', input: { sum: 3 } },
        ],
      }),
      says('All done.'),
      ...[says('You are welcome.'), says('Bye.')],
    );

    await talk.run('Hi');
    const first = await talk.run('Pay');
    const second = await talk.resume(...first.body.interrupts.map(approve));
    expect(second.body.run.status).toBe('requires_action');
    expect(results().map(({ id, isError }) => [id, isError])).toEqual([
      ['l', false],
      ['p', false],
    ]);
    expect(JSON.stringify(lastBody())).toContain('sealed-one');

    const [q, r] = second.body.interrupts as [InterruptView, InterruptView];
    const third = await talk.resume(approve(q), decline(r, 'too dear'));
    expect(third.body).toMatchObject({
      run: { status: 'completed' },
      message: { content: 'All done.' },
      interrupts: [],
    });
    const expected = [
      { id: 'l', output: 'look {}', isError: false },
      { id: 'p', output: 'pay {"sum":1}', isError: false },
      { id: 'q', output: 'pay {"sum":2}', isError: false },
      { id: 'r', output: expect.stringContaining('too dear'), isError: true },
    ];
    expect(results()).toEqual(expected);
    for (const sealed of ['sealed-one', 'sealed-two']) expect(JSON.stringify(lastBody())).toContain(sealed);

    for (const text of ['Thanks', 'Goodbye']) {
      expect(await talk.run(text)).toMatchObject({ status: 200, body: { run: { status: 'completed' } } });
      expect(results()).toEqual(expected);
      expect(JSON.stringify(lastBody())).not.toContain('sealed');
      for (const said of ['Hello.', 'First.', 'Then.', 'All done.', text])
        expect(JSON.stringify(lastBody())).toContain(said);
    }
    expect(pay.inputs).toEqual([{ sum: 1 }, { sum: 2 }]);
    expect(await talk.lines()).toEqual([
      ...[
        'user: Hi',
        'assistant: Hello.',
        'user: Pay',
        'assistant: First.',
        'assistant: Then.',
        'assistant: All done.',
      ],
      ...['user: Thanks', 'assistant: You are welcome.', 'user: Goodbye', 'assistant: Bye.'],
    ]);
  });

  it('sends the provider state to no other model', async () => {
    const talk = await Talk.start(service, agent);
    during(talk.threadId, { tools: [new NotingTool('pay').offered] });
    service.models.next(answers({ opaque: 'sealed', calls: [{ id: 'p', name: 'pay' }] }), says('Paid.'));
    const { body } = await talk.run('Pay');
    const other =
      providerOf(wire.provider).models.find(({ id, ownKeyOnly }) => id !== wire.model && !ownKeyOnly)?.id ?? '';
    const changed = await service.http('PATCH', `/v1/agents/${talk.agentId}`, {
      key: talk.key,
      body: { provider: { type: wire.provider, model: other } },
    });
    expect(changed.status).toBe(200);

    expect(await talk.resume(...body.interrupts.map(approve))).toMatchObject({ status: 200 });

    expect(`${service.models.requests.at(-1)?.path ?? ''} ${JSON.stringify(lastBody())}`).toContain(other);
    expect(JSON.stringify(lastBody())).not.toContain('sealed');
    expect(results()).toMatchObject([{ id: 'p', isError: false }]);
  });

  it('keeps the call with its result when the conversation no longer fits', async () => {
    const talk = await Talk.start(service, agent);
    during(talk.threadId, { tools: [new NotingTool('pay').offered] });
    for (const text of ['one', 'two', 'three', 'four']) {
      service.models.next(says(`${text} answer`));
      await talk.run(`${text} question`);
    }
    service.models.next(calls('pay'), tooLong, tooLong, tooLong, says('Paid.'));
    const { body } = await talk.run('Pay the rent');

    expect(await talk.resume(...body.interrupts.map(approve))).toMatchObject({ status: 200 });

    expect(results()).toMatchObject([{ id: 'call_pay', isError: false }]);
    expect(JSON.stringify(lastBody())).toContain('Pay the rent');
    expect(JSON.stringify(lastBody())).not.toContain('question');
  });
});

describe('a resumed run', () => {
  it('streams the results of calls that the previous run has shown, and its answer in a new message', async () => {
    const { talk, asked } = await askForPayments(service, [1, 2]);
    service.models.next(says('Half is paid.'));
    const [one, two] = asked.interrupts as [InterruptView, InterruptView];
    const body = { resume: [approve(one), { interruptId: two.id, status: 'cancelled' }] };
    const named = { 'idempotency-key': 'resumed' };

    const events = await talk.streamedBody(body, named);

    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    expect(typesOf(events)).toEqual([
      ...['RUN_STARTED', 'TOOL_CALL_RESULT', 'TOOL_CALL_RESULT'],
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'RUN_FINISHED'],
    ]);
    expect(
      events.flatMap(({ event }) =>
        event.type === 'TOOL_CALL_RESULT' ? [[event['toolCallId'], event['content']]] : [],
      ),
    ).toEqual([
      ['c2', expect.stringContaining('declined')],
      ['c1', 'pay {"sum":1}'],
    ]);
    expect(endOf(events)).toMatchObject({ outcome: { type: 'success' }, result: { run: { status: 'completed' } } });

    const read = jest.spyOn(service.app.get(RunLog), 'read').mockResolvedValueOnce(null);
    const replayed = await talk.streamedBody(body, named);
    read.mockRestore();
    expect(typesOf(replayed)).toEqual(typesOf(events));
    expect(endOf(replayed)).toEqual(endOf(events));
  });

  it('has the calls it made; the previous run’s calls have their outcome, and the trace has the answers', async () => {
    const { talk, pay, asked } = await askForPayments(service, [1, 2, 3]);
    service.models.next(says('Done.'));
    const [one, two, three] = asked.interrupts as [InterruptView, InterruptView, InterruptView];

    const { body } = await talk.resume(decline(three), { interruptId: two.id, status: 'cancelled' }, approve(one));

    expect(pay.inputs).toEqual([{ sum: 1 }]);
    const [question, before, after] = await talk.messages();
    expect(question).toMatchObject({ role: 'user', content: 'Pay' });
    expect(before?.toolCalls).toMatchObject([
      { id: 'c1', status: 'approved' },
      { id: 'c2', status: 'denied', output: expect.stringContaining('declined') },
      { id: 'c3', status: 'denied', output: expect.stringContaining('declined') },
    ]);
    expect(after).toMatchObject({
      runId: body.run.id,
      content: 'Done.',
      status: 'completed',
      toolCalls: [{ id: 'c1', name: 'pay', input: { sum: 1 }, output: 'pay {"sum":1}', status: 'completed' }],
    });
    expect((await talk.storedAs(asked.run.id)).body).toMatchObject({
      run: { status: 'requires_action' },
      interrupts: [],
    });
    const trace = await service.http('GET', `/v1/agents/${talk.agentId}/messages/${after?.id ?? ''}/trace`, {
      key: talk.key,
    });
    expect(trace).toMatchObject({
      status: 200,
      body: {
        id: body.run.id,
        status: 'completed',
        input: 'Approved: pay {"sum":1}\nDeclined: pay {"sum":2}\nDeclined: pay {"sum":3}',
        output: 'Done.',
        steps: [
          { type: 'tool', name: 'pay', input: { sum: 2 }, error: expect.stringContaining('declined') },
          { type: 'tool', name: 'pay', input: { sum: 3 }, error: expect.stringContaining('declined') },
          { type: 'tool', name: 'pay', input: { sum: 1 }, output: 'pay {"sum":1}', error: null },
          { type: 'model' },
        ],
      },
    });
  });

  it('with all calls declined calls nothing, gives the model the reason, and is normal history', async () => {
    const { talk, pay, asked } = await askForPayments(service, [1]);
    service.models.next(says('As you wish.'), says('Bye.'));

    expect(await talk.resume(...asked.interrupts.map((one) => decline(one, 'Ask my wife.')))).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: 'As you wish.', toolCalls: [] } },
    });
    const refused = [{ id: 'c1', output: expect.stringContaining('Ask my wife.'), isError: true }];
    expect(PROVIDER_WIRES[0]?.toolResults(lastBody())).toEqual(refused);
    await talk.run('Thanks');
    expect(PROVIDER_WIRES[0]?.toolResults(lastBody())).toEqual(refused);
    expect(pay.inputs).toEqual([]);
  });

  it('gives the model an error for an approved tool that no longer exists, and continues', async () => {
    const { talk, pay, asked } = await askForPayments(service, [1]);
    during(talk.threadId, { tools: [new NotingTool('other').offered] });
    service.models.next(says('It is gone.'));

    expect(await talk.resume(...asked.interrupts.map(approve))).toMatchObject({
      status: 200,
      body: { message: { toolCalls: [{ id: 'c1', status: 'failed' }] } },
    });

    expect(PROVIDER_WIRES[0]?.toolResults(lastBody())).toEqual([
      { id: 'c1', output: expect.stringContaining('no tool named pay'), isError: true },
    ]);
    expect(pay.inputs).toEqual([]);
  });

  it('is only one of many concurrent answers; the tool runs once', async () => {
    const { talk, pay, asked } = await askForPayments(service, [1]);
    const held = new HeldReply(['Paid.'], ['']);
    service.models.always(held.script);

    const refused: unknown[] = [];
    const all = Array.from({ length: 10 }, async () => {
      const { status, body } = await talk.resume(...asked.interrupts.map(approve));
      if (status !== 200) refused.push(body);
      return status;
    });
    await until(() => refused.length === 9, 'all but one are refused');
    held.finish();

    expect((await Promise.all(all)).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    for (const body of refused) expect(body).toMatchObject({ statusCode: 409, code: 'thread_busy' });
    expect(await talk.resume(...asked.interrupts.map(approve))).toMatchObject({ status: 400 });
    expect(pay.inputs).toEqual([{ sum: 1 }]);
    expect(await talk.messages()).toHaveLength(3);
  });

  it('is refused when another run has answered since the check, even if that run has ended', async () => {
    const { talk, pay, asked } = await askForPayments(service, [1]);
    const stale = await service.app.get(RunReader).openApprovals(talk.organization.id, talk.threadId);
    service.models.next(says('Paid.'));
    await talk.resume(...asked.interrupts.map(approve));
    const before = await talk.messages();

    const look = jest.spyOn(service.app.get(RunReader), 'openApprovals').mockResolvedValueOnce(stale);
    const late = await talk.resume(...asked.interrupts.map((one) => decline(one)));
    expect(look).toHaveBeenCalledTimes(1);
    look.mockRestore();
    expect(late).toMatchObject({ status: 400, body: { message: expect.stringContaining('no longer open') } });

    // The same when the statement itself has read the thread before the other run ended.
    await service.database.query('update threads set awaiting_run_id = $2 where id = $1', [
      talk.threadId,
      asked.run.id,
    ]);
    expect(await talk.resume(...asked.interrupts.map((one) => decline(one)))).toMatchObject({
      status: 409,
      body: { code: 'thread_busy' },
    });

    expect(await talk.messages()).toEqual(before);
    expect(pay.inputs).toEqual([{ sum: 1 }]);
  });

  it('is one run for one Idempotency-Key, which is refused with other answers', async () => {
    const { talk, pay, asked } = await askForPayments(service, [1]);
    service.models.always(says('Paid.'));
    const body = { resume: asked.interrupts.map(approve) };
    const named = { 'idempotency-key': 'pay-once' };

    const all = await Promise.all(Array.from({ length: 30 }, () => talk.post(body, named)));
    const late = await talk.post(body, named);

    expect(new Set([...all, late].map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set([...all, late].map(({ body: { run } }) => run.id)).size).toBe(1);
    expect(pay.inputs).toEqual([{ sum: 1 }]);
    expect(await talk.post({ resume: asked.interrupts.map((one) => decline(one)) }, named)).toMatchObject({
      status: 422,
    });
  });
});
