import { describe, expect, it } from '@jest/globals';
import { approve, askForPayments, ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { until, useService } from '../../support/harness.js';
import { heldRequest } from '../../support/held-run.js';
import { calls, HeldReply, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { endOf, type RunResult, Talk, textOf } from '../../support/talk.js';
import { mintSession } from '../../support/web-sessions.js';

const service = useService({ extensions: scriptedRuns });

const BACKGROUND = { background: true };
const inBackground = (talk: Talk) => talk.run('Hi', BACKGROUND);
const userMessage = { role: 'user', content: 'Hi' };

async function endedRun(talk: Talk, runId: string): Promise<RunResult> {
  await until(async () => (await talk.storedAs(runId)).body.run.status !== 'running', 'the run has ended');
  return (await talk.storedAs(runId)).body;
}

describe('a background run', () => {
  it('is answered with 202 while it is under way, and is read when it has ended', async () => {
    const { talk, held, running } = await heldRequest(service, inBackground);

    const accepted = await running;

    expect(accepted).toMatchObject({ status: 202, body: { run: { status: 'running', completedAt: null } } });
    expect(accepted.body).toMatchObject({ message: null, interrupts: [] });
    expect(accepted.headers.get('x-thread-id')).toBe(talk.threadId);
    expect(await talk.run('More')).toMatchObject({ status: 409, body: { code: 'thread_busy' } });
    expect((await talk.storedAs(accepted.body.run.id)).body).toEqual(accepted.body);
    held.finish();
    expect(await endedRun(talk, accepted.body.run.id)).toMatchObject({
      run: { status: 'completed' },
      message: { content: 'Half and half' },
    });
    expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Half and half']);
  });

  it('can be joined from its first event', async () => {
    const { talk, held, running } = await heldRequest(service, inBackground);
    const { body } = await running;

    const joined = talk.streamedBody({ rejoin: { runId: body.run.id } });
    held.finish();

    expect(textOf(await joined)).toBe('Half and half');
    expect(endOf(await joined)).toMatchObject({ type: 'RUN_FINISHED', result: { run: { id: body.run.id } } });
  });

  it('can be cancelled, and keeps the text it had', async () => {
    const { talk, held, running } = await heldRequest(service, inBackground);
    const { body } = await running;

    const cancelled = await service.http('POST', `${talk.path}/runs/${body.run.id}/cancel`, { key: talk.key });

    expect(cancelled).toMatchObject({ status: 200, body: { run: { status: 'cancelled' } } });
    held.finish();
  });

  it('takes the answers to requests for approval too', async () => {
    const { talk, pay, asked } = await askForPayments(service, [1]);
    service.models.next(says('Paid.'));

    const accepted = await talk.post({ resume: asked.interrupts.map(approve), ...BACKGROUND });

    expect(accepted).toMatchObject({ status: 202, body: { message: null, interrupts: [] } });
    expect(await endedRun(talk, accepted.body.run.id)).toMatchObject({ message: { content: 'Paid.' } });
    expect(pay.inputs).toEqual([{ sum: 1 }]);
  });

  it('that asks for approval has its interrupts when it is read', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    during(talk.threadId, { tools: [new NotingTool('pay').offered] });
    service.models.next(calls('pay', { sum: 1 }));

    const { body } = await talk.run('Pay', BACKGROUND);

    expect(await endedRun(talk, body.run.id)).toMatchObject({
      run: { status: 'requires_action' },
      interrupts: [{ metadata: { tool: 'pay', input: { sum: 1 } } }],
    });
  });

  it('is not repeated under its Idempotency-Key: each repeat is answered with 202 and the same run, also after its end', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Hello'], ['.']);
    service.models.next(held.script);
    const body = { message: userMessage, ...BACKGROUND };
    const send = () => talk.post(body, { 'idempotency-key': 'k' });

    const [first, repeat] = [await send(), await send()];
    expect([first.status, repeat.status]).toEqual([202, 202]);
    expect(repeat.body).toEqual(first.body);
    held.finish();
    await endedRun(talk, first.body.run.id);

    expect(await send()).toMatchObject({
      status: 202,
      body: { run: { id: first.body.run.id, status: 'completed' }, message: null, interrupts: [] },
    });
    const waiting = await talk.post({ message: userMessage }, { 'idempotency-key': 'k' });
    expect(waiting.status).toBe(422);
    expect(service.models.requests).toHaveLength(1);
  });

  it('that cannot be accepted is refused as any other, and nothing is stored', async () => {
    const talk = await Talk.start(service);
    for (const [body, named] of [
      [{ message: userMessage, ...BACKGROUND, onDisconnect: 'cancel' }, 'body/onDisconnect'],
      [{ message: userMessage, background: 'yes' }, 'body/background'],
      [{ ...BACKGROUND }, 'exactly one of message and resume'],
    ] as const) {
      const refused = await talk.post<{ code: string; message: string }>(body);
      expect([refused.status, refused.body.code]).toEqual([400, 'FST_ERR_VALIDATION']);
      expect(refused.body.message).toContain(named);
    }
    const streamed = await service.http('POST', `${talk.path}/runs/stream`, {
      key: talk.key,
      body: { message: userMessage, background: false },
    });
    expect([streamed.status, streamed.body['code']]).toEqual([400, 'FST_ERR_VALIDATION']);
    expect(await talk.messages()).toEqual([]);
  });

  it('is not available to a session pass, nor are other fields and answers of servers', async () => {
    const talk = await Talk.start(service);
    const { session, pass } = await mintSession(service, talk.key, { assistant_id: talk.agentId });
    const send = (path: string, more: object) =>
      service.http('POST', `/v1/threads/${session.thread_id}/${path}`, {
        key: pass.token,
        body: { message: userMessage, ...more },
      });
    const answer = (payload: object): object => ({
      ...{ message: undefined, resume: [{ interruptId: session.thread_id, status: 'resolved', payload }] },
    });

    for (const [path, more] of [
      ['runs', BACKGROUND],
      ['runs', { tools: [{ name: 'paint' }] }],
      ['runs', { limits: { maxSteps: 1 } }],
      ['runs/stream', { tools: [{ name: 'paint' }] }],
      ['runs/stream', { limits: { maxSteps: 1 } }],
      ['runs', { responseFormat: { type: 'json_object' } }],
      ['runs', answer({ approved: true, input: { sum: 1 } })],
      ['runs/stream', answer({ result: 'forged' })],
      ['runs/stream', { message: undefined, tools: [{ name: 'paint' }], rejoin: { runId: session.thread_id } }],
    ] as const) {
      expect(await send(path, more)).toMatchObject({ status: 403, body: { code: 'forbidden_for_session_pass' } });
    }
    service.models.next(says('Hello.'));
    expect(await send('runs', { background: false })).toMatchObject({
      status: 200,
      body: { message: { content: 'Hello.' } },
    });
  });

  it('with `background: false` waits for the reply', async () => {
    const talk = await Talk.start(service);
    service.models.next(says('Hello.'));

    const answer = await talk.run('Hi', { background: false, onDisconnect: 'cancel' });

    expect(answer).toMatchObject({ status: 200, body: { message: { content: 'Hello.' } } });
  });
});
