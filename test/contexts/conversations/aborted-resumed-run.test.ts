import { describe, expect, it } from '@jest/globals';
import { HEARTBEAT_MS } from '../../../src/conversations/engine/limits.js';
import { approve, askForPayments, ASKS_ALWAYS } from '../../support/approvals.js';
import { useService, until } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { disown, endOrphan } from '../../support/run-owners.js';
import { says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf } from '../../support/talk.js';

const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });

describe('a resumed run that is aborted', () => {
  async function underWay(agent: Readonly<Record<string, unknown>> = ASKS_ALWAYS) {
    const { talk, asked } = await askForPayments(service, [5], agent);
    let ran = 0;
    let finish: () => void = () => undefined;
    during(talk.threadId, {
      tools: [
        tool('pay', async () => {
          ran += 1;
          await new Promise<void>((resolve) => (finish = resolve));
          return output('paid');
        }),
      ],
    });
    const streaming = talk.streamedBody({ resume: asked.interrupts.map(approve) });
    await until(() => ran === 1, 'the tool runs');
    return {
      talk,
      asked,
      streaming,
      ran: () => ran,
      finish: () => {
        finish();
      },
    };
  }

  async function expectUnknown({ talk, asked, ran }: Awaited<ReturnType<typeof underWay>>): Promise<void> {
    const [, before, after] = await talk.messages();
    expect(before?.toolCalls).toMatchObject([{ id: 'c5', status: 'approved' }]);
    expect(after).toMatchObject({ status: 'incomplete', toolCalls: [{ id: 'c5', status: 'unknown' }] });
    expect(await talk.resume(...asked.interrupts.map(approve))).toMatchObject({ status: 400 });
    service.models.next(says('I do not know.'));
    expect(await talk.run('Did it work?')).toMatchObject({ status: 200 });
    expect(anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {})).toEqual([
      { id: 'c5', output: expect.stringContaining('unknown'), isError: true },
    ]);
    expect(ran()).toBe(1);
  }

  it('by the death of its process ends as failed, its calls unknown and never repeated; its trace has the answers', async () => {
    const broken = await underWay();
    const { talk } = broken;
    await disown(service, talk);
    const replica = await service.replica();
    await endOrphan(replica, talk);
    await replica.close();
    await clock.advance(HEARTBEAT_MS);
    broken.finish();

    expect(endOf(await broken.streaming)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    expect(await talk.trace()).toMatchObject({ status: 'failed', input: 'Approved: pay {"sum":5}' });
    await expectUnknown(broken);
  });

  it('by a timeout ends as timed_out, its calls unknown', async () => {
    const broken = await underWay({ ...ASKS_ALWAYS, timeoutMinutes: 1 });
    await clock.advance(60_000);
    expect(endOf(await broken.streaming)).toMatchObject({ type: 'RUN_ERROR', code: 'run_timeout' });
    await expectUnknown(broken);
  });

  it('by its user ends as cancelled, its calls unknown', async () => {
    const broken = await underWay();
    const { talk } = broken;
    const run = await talk.storedRun();
    await service.http('POST', `${talk.path}/runs/${run?.id ?? ''}/cancel`, { key: talk.key });
    expect(endOf(await broken.streaming)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
    await expectUnknown(broken);
  });
});
