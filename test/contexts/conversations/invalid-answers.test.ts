import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { approve, askForPayments, ASKS_ALWAYS, decline } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { scriptedRuns } from '../../support/scripted-runs.js';
import { type InterruptView, Talk } from '../../support/talk.js';

const service = useService({ extensions: scriptedRuns });

describe('invalid answers', () => {
  type Bodies = (one: InterruptView, two: InterruptView) => object;
  const bodies: readonly [string, Bodies, string][] = [
    ['leave one out', (one) => ({ resume: [approve(one)] }), 'missing: '],
    [
      'name an unknown interrupt',
      (one, two) => ({ resume: [approve(one), approve(two), approve({ id: randomUUID() })] }),
      'body/resume/2/interruptId',
    ],
    [
      'answer one twice',
      (one, two) => ({ resume: [approve(one), approve(two), decline(one)] }),
      'body/resume/2/interruptId',
    ],
    [
      'resolve without a payload',
      (one, two) => ({ resume: [approve(one), { interruptId: two.id, status: 'resolved' }] }),
      'body/resume/1/payload',
    ],
    [
      'resolve without approved',
      (one, two) => ({ resume: [approve(one), { interruptId: two.id, status: 'resolved', payload: {} }] }),
      'body/resume/1/payload must have either approved or result',
    ],
    [
      'have an unknown field',
      (one, two) => ({ resume: [approve(one), { ...approve(two), payload: { approved: true, why: 'x' } }] }),
      'body/resume/1/payload/why',
    ],
    [
      'have another status',
      (one, two) => ({ resume: [approve(one), { interruptId: two.id, status: 'maybe' }] }),
      'body/resume/1/status',
    ],
    ['name no UUID', (one) => ({ resume: [approve(one), approve({ id: 'two' })] }), 'body/resume/1/interruptId'],
    ['are none', () => ({ resume: [] }), 'body/resume'],
    [
      'come with a message',
      (one, two) => ({ resume: [approve(one), approve(two)], message: { role: 'user', content: 'Hi' } }),
      'exactly one of message',
    ],
    ['are not there, nor a message', () => ({}), 'exactly one of message'],
  ];

  it.each(bodies)(
    'that %s are 400 on both routes; nothing is called or stored, and valid ones work',
    async (_what, bodyOf, named) => {
      const { talk, pay, asked } = await askForPayments(service, [1, 2]);
      const [one, two] = asked.interrupts as [InterruptView, InterruptView];
      const before = await talk.messages();

      for (const route of ['runs', 'runs/stream']) {
        const headers = { 'idempotency-key': `unfit-${route}` };
        const refused = await service.http('POST', `${talk.path}/${route}`, {
          key: talk.key,
          body: bodyOf(one, two),
          headers,
        });
        expect(refused).toMatchObject({
          status: 400,
          body: {
            statusCode: 400,
            code: 'FST_ERR_VALIDATION',
            error: 'bad_request',
            message: expect.stringContaining(named),
          },
        });
      }

      expect(await talk.messages()).toEqual(before);
      expect([pay.inputs.length, service.models.requests.length]).toEqual([0, 1]);
      service.models.next(says('Paid.'));
      expect(await talk.resume(approve(one), approve(two))).toMatchObject({ status: 200 });
      expect(pay.inputs).toHaveLength(2);
    },
  );

  it('include those on another thread, and those without a request', async () => {
    const { talk, pay, asked } = await askForPayments(service, [1]);
    const other = await talk.another();
    for (const thread of [other, await Talk.start(service, ASKS_ALWAYS)]) {
      expect(await thread.resume(...asked.interrupts.map(approve))).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('body/resume/0/interruptId') },
      });
      expect(await thread.messages()).toEqual([]);
    }
    expect(pay.inputs).toEqual([]);
  });

  it('cannot be mixed with rejoin', async () => {
    const { talk, asked } = await askForPayments(service, [1]);
    const body = { resume: asked.interrupts.map(approve), rejoin: { runId: asked.run.id } };
    const refused = await service.http('POST', `${talk.path}/runs/stream`, { key: talk.key, body });
    expect(refused).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('exactly one of message, resume, rejoin and cancel') },
    });
  });
});
