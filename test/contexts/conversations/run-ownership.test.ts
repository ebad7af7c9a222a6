import { describe, expect, it } from '@jest/globals';
import { HEARTBEAT_MS, RECONCILE_MS, UNKNOWN_RUN_MS } from '../../../src/conversations/engine/limits.js';
import { newId } from '../../../src/platform/ids/index.js';
import { countingRuns } from '../../support/counted-runs.js';
import { until, useReplica, useService } from '../../support/harness.js';
import { heldRun, heldStream } from '../../support/held-run.js';
import { ManualClock } from '../../support/manual-clock.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, says } from '../../support/scripted-models.js';
import { disown, endOrphan, endOrphans, heartbeatsOver, ownerOf } from '../../support/run-owners.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, Talk } from '../../support/talk.js';

const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });
const replica = useReplica(service);

/** Advances the clock until the run is ended. */
async function untilEnded(talk: Talk): Promise<void> {
  await until(async () => {
    await clock.advance(RECONCILE_MS);
    return (await talk.storedRun())?.status === 'failed';
  }, 'the run is ended');
}

describe('a run whose process is dead', () => {
  it('is ended by another process as failed with internal, and the thread is free', async () => {
    const { talk, held, running } = await heldStream(service);
    await disown(service, talk);

    await untilEnded(talk);

    expect(await talk.storedRun()).toMatchObject({ error: { code: 'internal' } });
    expect(await talk.trace()).toMatchObject({ status: 'failed', usage: { inputTokens: null } });
    await heartbeatsOver(service);
    await clock.advance(HEARTBEAT_MS);
    expect(endOf(await running)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    held.finish();
    service.models.next(says('Back'));
    service.models.next(says('Hello'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    expect(await talk.lines()).toEqual(['user: Hi', 'user: Again', 'assistant: Back']);
  });

  it('keeps its stored message, with calls under way as unknown; they are never repeated', async () => {
    const talk = await Talk.start(service);
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
    service.models.next(answers({ text: 'Paying.', calls: [{ id: 'payment', name: 'pay', input: { sum: 5 } }] }));
    const streaming = talk.streamed('Pay');
    await until(() => ran === 1, 'the tool runs');
    await disown(service, talk);
    await endOrphan(replica, talk);
    await clock.advance(HEARTBEAT_MS);
    finish();

    expect(endOf(await streaming)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    expect((await talk.messages())[1]).toMatchObject({
      content: 'Paying.',
      status: 'incomplete',
      toolCalls: [{ id: 'payment', status: 'unknown' }],
    });
    service.models.next(says('I do not know whether it was paid.'));
    expect(await talk.run('Did it work?')).toMatchObject({ status: 200 });
    expect(ran).toBe(1);
    expect(anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {})).toEqual([
      { id: 'payment', output: expect.stringContaining('unknown'), isError: true },
    ]);
  });

  it('is also ended when its process lives but does not know it, since the response to its start was lost', async () => {
    const talk = await Talk.start(service);
    const { database } = service;
    const ids = [talk.organization.id, talk.threadId, talk.agentId, ownerOf(service)];
    const own = [newId(), ...ids, newId(), clock.now().toISOString()];
    await database.query(
      `insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, created_at, provider, model, use_own_api_key)
       values ($1, $2, $3, $4, $5, $6, 'running', $7::timestamptz, 'anthropic', 'any', false)`,
      own,
    );
    expect(await talk.run('Too early')).toMatchObject({ status: 409 });
    for (const process of [service, replica]) await endOrphans(process);
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });

    await clock.advance(UNKNOWN_RUN_MS);
    await untilEnded(talk);
    service.models.next(says('Hello'));
    expect(await talk.run('Hi')).toMatchObject({ status: 200 });
  });

  it('is ended as cancelled where its thread was deleted too', async () => {
    const { talk, held, running } = await heldRun(service);
    await disown(service, talk);
    await service.database.query('update threads set deleted_at = now() where id = $1', [talk.threadId]);
    await until(async () => {
      await endOrphans(replica);
      return (await talk.storedRun())?.status !== 'running';
    }, 'the run is ended');
    expect(await talk.storedRun()).toMatchObject({ status: 'cancelled', error: null });
    held.finish();
    await running;
  });

  it('is not ended while its process stores heartbeats', async () => {
    const { talk, held, running } = await heldRun(service);
    await disown(service, talk, 5);
    await endOrphans(replica);
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });
    await disown(service, talk);
    await endOrphan(replica, talk);
    held.finish();
    await running;
  });
});

describe('a process that has lost a run', () => {
  it('aborts it at its next heartbeat, and does not overwrite the stored end', async () => {
    const counted = await countingRuns(service, replica);
    const { talk, held, running, asked } = await heldStream(service);
    await heartbeatsOver(service);
    await disown(service, talk);
    await endOrphan(replica, talk);
    await clock.advance(HEARTBEAT_MS);
    expect(endOf(await running)).toMatchObject({ type: 'RUN_ERROR', code: 'internal' });
    await asked.disconnected;
    held.finish();

    expect(await talk.lines()).toEqual(['user: Hi']);
    expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'internal' } });
    const traces = await service.http<{ traces: unknown[] }>('GET', `/v1/agents/${talk.agentId}/traces`, {
      key: talk.key,
    });
    expect(traces.body.traces).toHaveLength(1);
    expect(await counted()).toEqual([{}, { failed: 1 }]);
  });

  it('stores its whole reply as incomplete: the run stays failed, as all know it', async () => {
    const counted = await countingRuns(service, replica);
    const { talk, held, running } = await heldRun(service);
    await disown(service, talk);
    await endOrphan(replica, talk);
    held.finish();
    expect(await running).toMatchObject({ status: 500 });
    expect((await talk.messages())[1]).toMatchObject({ content: 'Half and half', status: 'incomplete' });
    expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'internal' } });
    expect(await counted()).toEqual([{}, { failed: 1 }]);
    service.models.next(says('Back'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Half and half', 'user: Again', 'assistant: Back']);
  });

  it('stores nothing in a thread on which another run has begun since', async () => {
    const { talk, held, running } = await heldRun(service);
    await disown(service, talk);
    await endOrphan(replica, talk);
    service.models.next(says('Back'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    held.finish();
    await running;
    expect(await talk.lines()).toEqual(['user: Hi', 'user: Again', 'assistant: Back']);
  });

  it.each(['threads', 'agents'])(
    'cancels it at its next heartbeat when another process has deleted its %s',
    async (table) => {
      const { talk, held, running, asked } = await heldStream(service);
      const id = table === 'threads' ? talk.threadId : talk.agentId;
      await heartbeatsOver(service);
      await service.database.query(`delete from ${table} where id = $1`, [id]);
      await clock.advance(HEARTBEAT_MS);
      await asked.disconnected;
      held.finish();
      expect(endOf(await running)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
    },
  );

  it('keeps its other runs', async () => {
    const { held, running } = await heldRun(service);
    await clock.advance(4 * HEARTBEAT_MS);
    await heartbeatsOver(service);
    held.finish();
    expect(await running).toMatchObject({ status: 200, body: { message: { content: 'Half and half' } } });
  });
});
