import { describe, expect, it } from '@jest/globals';
import { approve, ASKS_ALWAYS, ASKS_FOR_CHANGES, NotingTool } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, refuses, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';

const service = useService({ extensions: scriptedRuns });

function toolResults() {
  return anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {});
}

describe('a message instead of an answer', () => {
  it('declines all requests: the calls are denied, and the model reads this', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(
      answers({
        calls: [
          { id: 'a', name: 'pay' },
          { id: 'b', name: 'pay' },
        ],
      }),
      says('Fine.'),
    );
    const { body } = await talk.run('Pay');

    expect(await talk.run('No, wait')).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, interrupts: [] },
    });

    const notMade = expect.stringContaining('not made');
    expect(toolResults()).toEqual([
      { id: 'a', output: notMade, isError: true },
      { id: 'b', output: notMade, isError: true },
    ]);
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([
      { status: 'denied', output: notMade },
      { status: 'denied', output: notMade },
    ]);
    expect(await talk.resume(...body.interrupts.map(approve))).toMatchObject({ status: 400 });
    expect(pay.inputs).toEqual([]);
    expect((await talk.storedAs(body.run.id)).body.run.status).toBe('requires_action');
  });

  it('declines nothing when it is refused', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(calls('pay'), says('Paid.'));
    const { body } = await talk.run('Pay');
    expect(await talk.post({ message: { role: 'user', content: '' } })).toMatchObject({ status: 400 });
    expect(await talk.resume(...body.interrupts.map(approve))).toMatchObject({ status: 200 });
    expect(pay.inputs).toHaveLength(1);
  });

  it('declines them even when its run fails', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    during(talk.threadId, { tools: [new NotingTool('pay').offered] });
    service.models.next(calls('pay'), refuses(400), says('Back.'));
    const { body } = await talk.run('Pay');
    expect((await talk.run('No')).status).toBe(502);
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([{ status: 'denied' }]);
    expect(await talk.resume(...body.interrupts.map(approve))).toMatchObject({ status: 400 });
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    expect(toolResults()).toEqual([{ id: 'call_pay', output: expect.stringContaining('not made'), isError: true }]);
  });
});

describe('a chat completion', () => {
  const ask = (talk: Talk, text: string) =>
    service.http('POST', '/v1/chat/completions', {
      key: talk.key,
      body: { assistant_id: talk.agentId, thread_id: talk.threadId, messages: [{ role: 'user', content: text }] },
    });

  it('cannot ask: a call that needs approval is denied, and the model continues', async () => {
    const talk = await Talk.start(service, ASKS_FOR_CHANGES);
    const [look, pay] = [new NotingTool('look', 'read_only'), new NotingTool('pay')];
    during(talk.threadId, { tools: [look.offered, pay.offered] });
    service.models.next(
      answers({
        calls: [
          { id: 'p', name: 'pay' },
          { id: 'l', name: 'look' },
        ],
      }),
      says('I could not pay.'),
    );

    const { status, body } = await ask(talk, 'Pay');

    expect(status).toBe(200);
    expect(body).toMatchObject({ choices: [{ message: { content: 'I could not pay.' }, finish_reason: 'stop' }] });
    expect(toolResults()).toMatchObject([
      { id: 'p', output: expect.stringContaining('no way to ask for it'), isError: true },
      { id: 'l', isError: false },
    ]);
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([{ status: 'denied' }, { status: 'completed' }]);
    expect([look.inputs.length, pay.inputs.length]).toEqual([1, 0]);
  });

  it('is a new message on a waiting thread, so it declines all requests', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(calls('pay'), says('Fine.'));
    const { body } = await talk.run('Pay');

    expect((await ask(talk, 'No')).status).toBe(200);

    expect((await talk.messages())[1]?.toolCalls).toMatchObject([{ status: 'denied' }]);
    expect(await talk.resume(...body.interrupts.map(approve))).toMatchObject({ status: 400 });
    expect(pay.inputs).toEqual([]);
  });
});
