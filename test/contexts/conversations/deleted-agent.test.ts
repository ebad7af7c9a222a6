import { describe, expect, it } from '@jest/globals';
import { type Answer, type StreamedEvent, useService, until } from '../../support/harness.js';
import { clusterOnly } from '../../support/modes.js';
import { answers, HeldReply } from '../../support/scripted-models.js';
import { during, endlessTool, scriptedRuns } from '../../support/scripted-runs.js';
import { endOf, Talk } from '../../support/talk.js';

const service = useService({ extensions: scriptedRuns });

function remove(talk: Talk, path: string) {
  return service.http('DELETE', path, { key: talk.key });
}

describe.each([
  ['agent', (talk: Talk) => `/v1/agents/${talk.agentId}`],
  ['thread', (talk: Talk) => talk.path],
])('a deleted %s', (_what, pathOf) => {
  it('cancels its runs: the stream ends as cancelled, the waiting caller gets a response, the sockets close', async () => {
    const talk = await Talk.start(service);
    const other = _what === 'agent' ? await talk.another() : talk;
    const held = new HeldReply(['Half']);
    service.models.next(held.script);
    const events: StreamedEvent[] = [];
    for await (const event of talk.stream('Hi')) {
      events.push(event);
      if (event.event.type !== 'TEXT_MESSAGE_CONTENT') continue;
      expect((await remove(talk, pathOf(talk))).status).toBeLessThan(300);
    }

    await (
      await held.asked
    ).disconnected;
    held.finish();
    expect(endOf(events)).toMatchObject({
      type: 'RUN_FINISHED',
      outcome: { type: 'cancelled' },
      result: { run: { status: 'cancelled' }, message: { content: 'Half', status: 'incomplete' } },
    });
    const messages = await service.http('GET', `${other.path}/messages`, { key: talk.key });
    expect(messages).toMatchObject({ status: 404, body: { error: 'not_found' } });
    const stored = 'select id from messages where thread_id = $1';
    await until(
      async () => (await service.database.query(stored, [talk.threadId])).length === 0,
      'its messages are removed',
    );
  });

  it('answers the waiting caller', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half']);
    service.models.next(held.script);
    const waiting = talk.run('Hi');
    await held.asked;
    await remove(talk, pathOf(talk));
    expect(await waiting).toMatchObject({ status: 200, body: { run: { status: 'cancelled' } } });
    held.finish();
  });

  it('ends a run that waits for a tool', async () => {
    const talk = await Talk.start(service);
    const slow = endlessTool();
    during(talk.threadId, { tools: [slow.offered] });
    service.models.next(answers({ calls: [{ id: 'c', name: 'slow' }] }));
    const streaming = talk.streamed('Go');
    await slow.called;
    await remove(talk, pathOf(talk));
    expect(endOf(await streaming)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
  });
});

// Not with the embedded database, whose single connection serializes all statements.
clusterOnly('a request that meets a deletion under way', () => {
  /** Deletes the row in a transaction that commits once the request waits for its lock. */
  async function meeting(statement: string, id: string, send: () => Promise<Answer>): Promise<Answer> {
    let sent: Promise<Answer> | undefined;
    await service.database.transaction(async (transaction) => {
      await transaction.query(statement, [id]);
      sent = send();
      await until(async () => {
        const waiting = await transaction.query(
          `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return waiting.length > 0;
      }, 'the request waits for the deletion');
    });
    if (!sent) throw new Error('nothing was sent');
    return sent;
  }

  it.each(['runs', 'runs/stream'])('of the thread is 404 on %s', async (route) => {
    const talk = await Talk.start(service);
    const answer = await meeting('delete from threads where id = $1', talk.threadId, () =>
      service.http('POST', `${talk.path}/${route}`, {
        key: talk.key,
        body: { message: { role: 'user', content: 'Hi' } },
      }),
    );
    expect(answer).toMatchObject({ status: 404, body: { error: 'not_found' } });
  });

  it('of the agent is 404 for a new thread', async () => {
    const talk = await Talk.start(service);
    const answer = await meeting('delete from agents where id = $1', talk.agentId, () =>
      service.http('POST', '/v1/threads', { key: talk.key, body: { assistant_id: talk.agentId } }),
    );
    expect(answer).toMatchObject({ status: 404, body: { error: 'not_found' } });
  });
});
