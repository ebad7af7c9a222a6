import { describe, expect, it } from '@jest/globals';
import { PurgeIdempotencyKeys } from '../../../src/conversations/jobs/purge-idempotency-keys.job.js';
import { approve, ASKS_ALWAYS, ASKS_FOR_CHANGES, decline, NotingTool } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { activeJob } from '../../support/job-site.js';
import { ManualClock } from '../../support/manual-clock.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, HeldReply, says } from '../../support/scripted-models.js';
import { during, endlessTool, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { statementsOf } from '../../support/statements.js';
import { endOf, type InterruptView, type RunResult, Talk } from '../../support/talk.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });

function toolResults() {
  return anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {});
}

/** A thread whose last run asks for approval of each sum. */
async function asking(...sums: number[]): Promise<{ talk: Talk; pay: NotingTool; asked: RunResult }> {
  const talk = await Talk.start(service, ASKS_ALWAYS);
  const pay = new NotingTool('pay');
  during(talk.threadId, { tools: [pay.offered] });
  service.models.next(
    answers({ text: 'Shall I?', calls: sums.map((sum) => ({ id: `c${sum}`, name: 'pay', input: { sum } })) }),
  );
  const { body } = await talk.run('Pay');
  return { talk, pay, asked: body };
}

function agUi(talk: Talk, resume: object[]) {
  const body = { threadId: talk.threadId, runId: 'r', messages: [], resume };
  return service.http('POST', `/v1/agents/${talk.agentId}/ag-ui`, { key: talk.key, body });
}

describe('the interrupts of a run that is read', () => {
  it('are those of its response, for a client that lost it', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(calls('pay', { sum: 1 }), says('Paid.'));
    const lost = endOf(await talk.streamed('Pay'));

    const [, reply] = await talk.messages();
    const { body } = await talk.storedAs(reply?.runId ?? '');

    expect({ type: 'interrupt', interrupts: body.interrupts }).toEqual(lost['outcome']);
    expect(await talk.resume(...body.interrupts.map(approve))).toMatchObject({ status: 200, body: { interrupts: [] } });
    expect(pay.inputs).toEqual([{ sum: 1 }]);
  });

  it('are empty once a run has begun to answer them, as are those of that run', async () => {
    const { talk, asked } = await asking(1);
    const held = new HeldReply(['Paid.'], ['']);
    service.models.next(held.script);
    const resuming = talk.resume(...asked.interrupts.map(approve));
    await held.asked;
    expect((await talk.storedAs(asked.run.id)).body).toMatchObject({
      run: { status: 'requires_action' },
      interrupts: [],
    });
    held.finish();
    const { body } = await resuming;
    for (const { id } of [asked.run, body.run]) expect((await talk.storedAs(id)).body.interrupts).toEqual([]);
  });

  it('are empty once a message has declined them, even those of a resumed run', async () => {
    const { talk, asked } = await asking(1);
    service.models.next(calls('pay', { sum: 2 }), says('Fine.'));
    const again = await talk.resume(...asked.interrupts.map(approve));
    expect((await talk.storedAs(again.body.run.id)).body.interrupts).toEqual(again.body.interrupts);
    expect(again.body.interrupts).toHaveLength(1);
    await talk.run('No');
    for (const { id } of [asked.run, again.body.run]) {
      expect((await talk.storedAs(id)).body.interrupts).toEqual([]);
      const cancelled = await service.http<RunResult>('POST', `${talk.path}/runs/${id}/cancel`, { key: talk.key });
      expect(cancelled.body).toMatchObject({ run: { status: 'requires_action' }, interrupts: [] });
    }
  });

  it('are not changed by cancelling the run, which has ended', async () => {
    const { talk, pay, asked } = await asking(1);
    await service.http('POST', `${talk.path}/runs/${asked.run.id}/cancel`, { key: talk.key });
    service.models.next(says('Paid.'));
    expect(await talk.resume(...asked.interrupts.map(approve))).toMatchObject({ status: 200 });
    expect(pay.inputs).toHaveLength(1);
  });
});

describe('a run with a call that needs approval', () => {
  it('that is cancelled before its other calls have ended makes no request, and the thread continues', async () => {
    const talk = await Talk.start(service, ASKS_FOR_CHANGES);
    const pay = new NotingTool('pay');
    const slow = endlessTool('read_only');
    during(talk.threadId, { tools: [slow.offered, pay.offered] });
    service.models.next(
      answers({
        calls: [
          { id: 'p', name: 'pay' },
          { id: 's', name: 'slow' },
        ],
      }),
      says('Back.'),
    );
    const asking = talk.run('Go');
    await slow.called;

    const cancelled = await service.http('POST', `${talk.path}/runs/${(await talk.storedRun())?.id ?? ''}/cancel`, {
      key: talk.key,
    });

    expect(cancelled).toMatchObject({ status: 200, body: { run: { status: 'cancelled' }, interrupts: [] } });
    expect((await asking).body).toEqual(cancelled.body);
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([
      { id: 'p', status: 'denied' },
      { id: 's', status: 'unknown' },
    ]);
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    expect(toolResults().map(({ id, isError }) => [id, isError])).toEqual([
      ['p', true],
      ['s', true],
    ]);
    expect(pay.inputs).toEqual([]);
  });
});

describe('a request for approval', () => {
  it('has its expiry, 24 hours after the end of the run', async () => {
    const { talk, asked } = await asking(1, 2);
    const { body } = await talk.storedAs(asked.run.id);
    const { completedAt } = body.run as unknown as { completedAt: string };
    const expiresAt = new Date(new Date(completedAt).getTime() + DAY_MS).toISOString();
    for (const { interrupts } of [asked, body]) expect(interrupts).toMatchObject([{ expiresAt }, { expiresAt }]);
  });

  it('can be answered until it expires', async () => {
    const { talk, pay, asked } = await asking(1);
    clock.jump(DAY_MS - 1);
    service.models.next(says('Paid.'));
    expect((await talk.storedAs(asked.run.id)).body.interrupts).toEqual(asked.interrupts);
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([{ status: 'awaiting_approval' }]);
    expect(await talk.resume(...asked.interrupts.map(approve))).toMatchObject({
      status: 200,
      body: { message: { content: 'Paid.' } },
    });
    expect(pay.inputs).toHaveLength(1);
  });

  it('is refused after that, on every route and for any answer, and nothing changes', async () => {
    const { talk, pay, asked } = await asking(1, 2);
    clock.jump(DAY_MS);
    const [one, two] = asked.interrupts as [InterruptView, InterruptView];
    const refusal = {
      status: 400,
      body: {
        statusCode: 400,
        code: 'FST_ERR_VALIDATION',
        error: 'bad_request',
        message: expect.stringContaining('body/resume/0/interruptId'),
      },
    };
    for (const resume of [
      [approve(one), approve(two)],
      [decline(two), approve(one)],
      [{ interruptId: one.id, status: 'cancelled' as const }],
    ]) {
      const all = await Promise.all([
        talk.post<Record<string, unknown>>({ resume }),
        service.http('POST', `${talk.path}/runs/stream`, { key: talk.key, body: { resume } }),
        agUi(talk, resume),
      ]);
      for (const answer of all) {
        expect(answer).toMatchObject(refusal);
        expect(answer.body['message']).toContain(`${resume[0]?.interruptId ?? ''} has expired`);
      }
    }
    expect(await talk.messages()).toHaveLength(2);
    expect(pay.inputs).toEqual([]);
    expect(service.models.requests).toHaveLength(1);
  });

  it('is denied in reads of the run, its messages and its reply after that', async () => {
    const { talk, asked } = await asking(1, 2);
    clock.jump(DAY_MS);
    const denied = { status: 'denied', output: expect.stringContaining('expired without an answer') };
    const { body } = await talk.storedAs(asked.run.id);
    const [, reply] = await talk.messages();
    const reacted = await service.http('PUT', `${talk.path}/messages/${reply?.id ?? ''}/reaction`, {
      key: talk.key,
      body: { reaction: 'thumbs_down' },
    });
    expect(body).toMatchObject({
      run: { status: 'requires_action' },
      message: { toolCalls: [denied, denied] },
      interrupts: [],
    });
    expect(reply).toMatchObject({ toolCalls: [denied, denied] });
    expect(reacted.body).toMatchObject({ toolCalls: [denied, denied] });
  });

  it.each<[string, (talk: Talk) => Promise<{ status: number }>]>([
    ['a message', (talk) => talk.run('Are you there?')],
    [
      'a chat completion',
      (talk) =>
        service.http('POST', '/v1/chat/completions', {
          key: talk.key,
          body: {
            assistant_id: talk.agentId,
            thread_id: talk.threadId,
            messages: [{ role: 'user', content: 'Are you there?' }],
          },
        }),
    ],
  ])('is denied when %s comes: the model reads that it expired', async (_what, ask) => {
    const { talk, pay, asked } = await asking(1);
    clock.jump(DAY_MS);
    const shown = await talk.messages();
    service.models.next(says('Yes.'), says('Bye.'));

    expect((await ask(talk)).status).toBe(200);

    const read = [{ id: 'c1', output: expect.stringContaining('expired without an answer'), isError: true }];
    expect(toolResults()).toEqual(read);
    expect((await talk.messages()).slice(0, 2)).toEqual(shown);
    await talk.run('Bye');
    expect(toolResults()).toEqual(read);
    expect(await talk.resume(...asked.interrupts.map(approve))).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('no open interrupt') },
    });
    expect(pay.inputs).toEqual([]);
  });

  it('adds no statement to reads of the thread while it can be answered', async () => {
    const { talk } = await asking(1);
    const settled = await Talk.start(service);
    service.models.next(says('Hi.'));
    await settled.run('Hi');
    const list = (of: Talk) => statementsOf(service.database, () => of.messages());
    await Promise.all([talk.messages(), settled.messages()]);
    expect(await list(talk)).toHaveLength((await list(settled)).length);
  });
});

describe('media of results before a request for approval', () => {
  const show = tool(
    'show',
    () =>
      Promise.resolve({
        output: 'A chart.',
        isError: false,
        media: [{ kind: 'image', name: 'chart.png', mediaType: 'image/png', data: 'iVBORw0KGgoCANARYpng' }],
      }),
    'read_only',
  );

  async function askingAfterShowing(): Promise<{ talk: Talk; asked: RunResult }> {
    const talk = await Talk.start(service, ASKS_FOR_CHANGES);
    during(talk.threadId, { tools: [show, new NotingTool('pay').offered] });
    service.models.next(
      answers({
        calls: [
          { id: 's', name: 'show' },
          { id: 'p', name: 'pay' },
        ],
      }),
    );
    return { talk, asked: (await talk.run('Show me, then pay')).body };
  }

  async function keeps({ run: { id } }: RunResult): Promise<boolean> {
    const [row] = await service.database.query<{ keeps: boolean }>(
      'select kept_results is not null as keeps from runs where id = $1',
      [id],
    );
    return row?.keeps ?? false;
  }

  const purge = (): Promise<void> => service.app.get(PurgeIdempotencyKeys, { strict: false }).process(activeJob({}));

  it('are removed once the request has expired, and not before', async () => {
    const older = [];
    // More than one batch.
    for (let count = 0; count < 21; count += 1) older.push(await askingAfterShowing());
    clock.jump(HOUR_MS);
    const newer = await askingAfterShowing();

    clock.jump(DAY_MS - HOUR_MS - 1);
    await purge();
    for (const { asked } of [...older, newer]) expect(await keeps(asked)).toBe(true);

    clock.jump(HOUR_MS + 2);
    await purge();
    for (const { asked } of older) expect(await keeps(asked)).toBe(false);
    expect(await keeps(newer.asked)).toBe(true);

    expect(await newer.talk.resume(...newer.asked.interrupts.map(approve))).toMatchObject({ status: 400 });
    clock.jump(HOUR_MS);
    await purge();
    expect(await keeps(newer.asked)).toBe(false);
  });
});
