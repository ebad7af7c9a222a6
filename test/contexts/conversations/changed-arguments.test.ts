import { describe, expect, it } from '@jest/globals';
import { ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { calls, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { type InterruptView, Talk } from '../../support/talk.js';

const service = useService({ extensions: scriptedRuns });

function lastRequest(): Record<string, unknown> {
  return service.models.requests.at(-1)?.body as Record<string, unknown>;
}

describe('an approval with changed arguments', () => {
  async function askToPay(): Promise<{ talk: Talk; pay: NotingTool; interrupt: InterruptView }> {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(calls('pay', { sum: 5 }));
    const { body } = await talk.run('Pay');
    return { talk, pay, interrupt: body.interrupts[0]! };
  }

  const changed = ({ id }: InterruptView, input: object): object => ({
    resume: [{ interruptId: id, status: 'resolved', payload: { approved: true, input } }],
  });

  it('makes the call with these, and the message, the trace and the model show the change', async () => {
    const { talk, pay, interrupt } = await askToPay();
    service.models.next(says('Paid.'));

    const { body } = await talk.post(changed(interrupt, { sum: 3 }));

    expect(pay.inputs).toEqual([{ sum: 3 }]);
    expect(body.message?.toolCalls).toMatchObject([
      { name: 'pay', input: { sum: 3 }, requestedInput: { sum: 5 }, status: 'completed' },
    ]);
    const [result] = anthropicWire.toolResults(lastRequest());
    expect(result?.output).toMatch(/^The user changed the arguments .*\{"sum":3\}\n\npay \{"sum":3\}$/);
    expect(JSON.stringify(lastRequest()['messages'])).toContain('{"sum":5}');
    const { steps, input } = await talk.trace();
    expect(steps).toContainEqual(
      expect.objectContaining({ name: 'pay', input: { sum: 3 }, requestedInput: { sum: 5 } }),
    );
    expect(input).toContain('with other arguments');
  });

  it('that are those of the model is an approval without a change', async () => {
    const { talk, pay, interrupt } = await askToPay();
    service.models.next(says('Paid.'));
    const { body } = await talk.post(changed(interrupt, { sum: 5 }));
    expect(pay.inputs).toEqual([{ sum: 5 }]);
    expect(body.message?.toolCalls?.[0]).not.toHaveProperty('requestedInput');
    expect(anthropicWire.toolResults(lastRequest())).toMatchObject([{ output: 'pay {"sum":5}' }]);
  });

  it('shows the arguments as the model had them, also where hooks changed them before', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    const beforeToolCall = () => Promise.resolve({ decision: 'allow' as const, input: { sum: 9 } });
    during(talk.threadId, { tools: [pay.offered], hooks: { beforeToolCall } });
    service.models.next(calls('pay', { sum: 5 }));
    const asked = await talk.run('Pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(says('Paid.'));
    const { body } = await talk.post(changed(asked.body.interrupts[0]!, { sum: 3 }));
    expect(body.message?.toolCalls).toMatchObject([{ input: { sum: 3 }, requestedInput: { sum: 5 } }]);
  });

  it('is checked by hooks with the new arguments', async () => {
    const { talk, pay, interrupt } = await askToPay();
    during(talk.threadId, {
      tools: [pay.offered],
      hooks: {
        beforeToolCall: (_run, { input }) =>
          Promise.resolve(input['sum'] === 4 ? { decision: 'deny', reason: 'Never four.' } : { decision: 'allow' }),
      },
    });
    service.models.next(says('Not paid.'));
    const { body } = await talk.post(changed(interrupt, { sum: 4 }));
    expect(pay.inputs).toEqual([]);
    expect(body.message?.toolCalls).toMatchObject([{ status: 'denied', output: 'Never four.' }]);
  });

  it('is refused for a call that is declined', async () => {
    const { talk, pay, interrupt } = await askToPay();
    const payload = { approved: false, input: { sum: 3 } };
    const refused = await talk.post<{ message: string }>({
      resume: [{ interruptId: interrupt.id, status: 'resolved', payload }],
    });
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('payload/input')]);
    expect(pay.inputs).toEqual([]);
  });
});
