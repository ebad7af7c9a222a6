import { describe, expect, it } from '@jest/globals';
import { message, useService, type StreamedEvent } from '../../support/harness.js';
import { heldStream } from '../../support/held-run.js';
import { HeldReply, says } from '../../support/scripted-models.js';
import { readEvents } from '../../support/sse.js';
import { endOf } from '../../support/talk.js';

const service = useService();

async function conversation(): Promise<{ key: string; threadId: string }> {
  const { key } = await service.organization();
  return { key, threadId: await service.thread(key, await service.agent(key)) };
}

async function collect(events: AsyncIterable<StreamedEvent>): Promise<StreamedEvent[]> {
  const all: StreamedEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

async function rejoin(path: string, key: string, headers: Record<string, string> = {}): Promise<StreamedEvent[]> {
  const response = await service.fetch('GET', path, { key, headers });
  expect(response.status).toBe(200);
  const all: StreamedEvent[] = [];
  for await (const { id, data } of readEvents(response.body as ReadableStream<Uint8Array>)) {
    all.push({ id, event: JSON.parse(data) as StreamedEvent['event'] });
  }
  return all;
}

describe('a stream after its reader has disconnected', () => {
  it('can be joined after any event while the run continues, with no gap and no repeat', async () => {
    const { talk, held, running, runId } = await heldStream(service, new HeldReply(['one', ' two'], [' three']));
    const path = `${talk.path}/runs/${runId}/stream`;
    const joined = [0, 1, 2, 3].map((after) => rejoin(`${path}?starting_after=${after}`, talk.key));
    const byHeader = rejoin(path, talk.key, { 'last-event-id': '2' });
    held.finish();

    const all = await running;
    for (const [after, events] of (await Promise.all(joined)).entries()) expect(events).toEqual(all.slice(after));
    expect(await byHeader).toEqual(all.slice(2));
  });

  it('can be joined in the body of runs/stream, which starts no run', async () => {
    const { key, threadId } = await conversation();
    service.models.next(says('reply'));
    const path = `/v1/threads/${threadId}/runs/stream`;
    const all = await collect(service.stream(path, { key, body: message('Hi') }));
    const runId = all[0]?.event['runId'];

    const again = await collect(service.stream(path, { key, body: { rejoin: { runId, startingAfter: 1 } } }));

    expect(again).toEqual(all.slice(1));
    // A replica that died may have sent more events than the others have: the end comes all the same.
    const behind = await collect(service.stream(path, { key, body: { rejoin: { runId, startingAfter: 900 } } }));
    expect(behind).toEqual([{ ...all.at(-1), id: '901' }]);
    expect(service.models.requests).toHaveLength(1);
    const neither = await service.http('POST', path, { key, body: {} });
    expect(neither.status).toBe(400);
    const both = await service.http('POST', path, { key, body: { ...message('Hi'), rejoin: { runId } } });
    expect(both.status).toBe(400);
  });

  it('answers 404 for a run of another thread and 410 when the events are no longer kept', async () => {
    const { key, threadId } = await conversation();
    const other = await conversation();
    service.models.always(says('reply'));
    const run = await service.http<{ run: { id: string } }>('POST', `/v1/threads/${threadId}/runs`, {
      key,
      body: message('Hi'),
    });
    const runId = run.body.run.id;

    const foreign = await service.http('GET', `/v1/threads/${other.threadId}/runs/${runId}/stream`, { key: other.key });
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(
      (
        await service.http('GET', `/v1/threads/${other.threadId}/runs/${crypto.randomUUID()}/stream`, {
          key: other.key,
        })
      ).body,
    );

    const old = crypto.randomUUID();
    await service.database.query(
      `insert into runs (id, organization_id, thread_id, agent_id, owner_id, message_id, status, provider, model,
                         use_own_api_key, created_at, completed_at)
       select $1::uuid, organization_id, thread_id, agent_id, owner_id, gen_random_uuid(), 'completed', provider, model,
              use_own_api_key, created_at, completed_at - interval '6 minutes' from runs where id = $2`,
      [old, runId],
    );
    const gone = await service.http('GET', `/v1/threads/${threadId}/runs/${old}/stream`, { key });
    expect(gone.status).toBe(410);
    expect(gone.body).toMatchObject({ statusCode: 410, error: 'gone' });
  });

  it.each(['x', '-1', '1.5'])('refuses %j as the last event', async (id) => {
    const { key, threadId } = await conversation();
    const answer = await service.http('GET', `/v1/threads/${threadId}/runs/${crypto.randomUUID()}/stream`, {
      key,
      headers: { 'last-event-id': id },
    });

    expect(answer.status).toBe(400);
  });
});

describe('a run', () => {
  it('is cancelled on request: the text so far is kept and the provider’s connection is closed', async () => {
    const { talk, held, running, asked, runId } = await heldStream(service);

    const cancelled = await service.http('POST', `${talk.path}/runs/${runId}/cancel`, { key: talk.key });

    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({
      run: { status: 'cancelled', error: null },
      message: { content: 'Half', status: 'incomplete' },
    });
    await asked.disconnected;
    held.finish();
    expect(endOf(await running)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
  });

  it('can be read, and cancelling an ended one changes nothing', async () => {
    const { key, threadId } = await conversation();
    service.models.next(says('reply'));
    const made = await service.http<{ run: { id: string } }>('POST', `/v1/threads/${threadId}/runs`, {
      key,
      body: message('Hi'),
    });
    const path = `/v1/threads/${threadId}/runs/${made.body.run.id}`;

    expect((await service.http('GET', path, { key })).body).toEqual(made.body);
    expect((await service.http('POST', `${path}/cancel`, { key })).body).toEqual(made.body);
    expect((await service.http('GET', `/v1/threads/${threadId}/runs/${crypto.randomUUID()}`, { key })).status).toBe(
      404,
    );
  });
});
