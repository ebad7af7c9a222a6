import { expect, it } from '@jest/globals';
import { HEARTBEAT_MS } from '../../../src/conversations/engine/limits.js';
import { type StreamedEvent, useReplica, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { disown, endOrphan } from '../../support/run-owners.js';
import { answers } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, Talk } from '../../support/talk.js';

const clock = new ManualClock();
const lines: string[] = [];
const service = useService({
  clock,
  environment: { LOG_LEVEL: 'error' },
  extensions: scriptedRuns,
  log: { write: (line) => void lines.push(line) },
});
const replica = useReplica(service);

interface Orphan {
  readonly talk: Talk;
  readonly runId: string;
  readonly streaming: Promise<StreamedEvent[]>;
}

/** A run whose process is silent, with a stored call under way. */
async function orphan(until: Promise<unknown>): Promise<Orphan> {
  const talk = await Talk.start(service);
  const called = Promise.withResolvers<undefined>();
  const pay = tool('pay', async () => {
    called.resolve(undefined);
    await until;
    return output('paid');
  });
  during(talk.threadId, { tools: [pay] });
  service.models.next(answers({ text: 'Paying.', calls: [{ id: 'payment', name: 'pay', input: { sum: 5 } }] }));
  const streaming = talk.streamed('Pay');
  await called.promise;
  await disown(service, talk);
  return { talk, runId: (await talk.storedRun())?.id ?? '', streaming };
}

/** The log entries about the end of the orphan. */
function logged(runId: string): string[] {
  return lines.filter((line) => line.includes(`"runId":"${runId}"`) && line.includes('orphaned run'));
}

it('a run whose process is dead is ended without its unreadable JSON, which the log names; other runs are ended too', async () => {
  const release = Promise.withResolvers<undefined>();
  const orphans = [
    await orphan(release.promise),
    await orphan(release.promise),
    await orphan(release.promise),
  ] as const;
  const [noMessage, noDecisions, whole] = orphans;
  const { database } = service;
  await database.query(`update messages set transcript = '{}' where thread_id = $1 and role = 'assistant'`, [
    noMessage.talk.threadId,
  ]);
  await database.query(`update runs set decisions = '{}' where id = $1`, [noDecisions.runId]);

  for (const { talk } of orphans) await endOrphan(replica, talk);
  await clock.advance(HEARTBEAT_MS);
  release.resolve(undefined);

  for (const { talk, streaming } of orphans) {
    expect(endOf(await streaming)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'internal' } });
    expect(await talk.trace()).toMatchObject({ status: 'failed', input: 'Pay' });
  }
  for (const { talk } of [noDecisions, whole]) {
    expect((await talk.messages())[1]).toMatchObject({
      content: 'Paying.',
      status: 'incomplete',
      toolCalls: [{ status: 'unknown' }],
    });
  }
  expect(logged(noMessage.runId)).toEqual([expect.stringContaining('messages.transcript')]);
  expect(logged(noDecisions.runId)).toEqual([expect.stringContaining('runs.decisions')]);
  expect(logged(whole.runId)).toEqual([]);
});
