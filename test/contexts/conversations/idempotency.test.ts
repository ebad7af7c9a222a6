import { describe, expect, it } from '@jest/globals';
import { message, useService, type StreamedEvent } from '../../support/harness.js';
import { HeldReply, refuses, says } from '../../support/scripted-models.js';

const service = useService();

async function conversation(): Promise<{ key: string; threadId: string; agentId: string }> {
  const { key } = await service.organization();
  const agentId = await service.agent(key);
  return { key, agentId, threadId: await service.thread(key, agentId) };
}

async function contents(key: string, threadId: string): Promise<string[]> {
  const listed = await service.http<{ messages: { content: string }[] }>('GET', `/v1/threads/${threadId}/messages`, {
    key,
  });
  return listed.body.messages.map(({ content }) => content);
}

const named = (name: string): { headers: Record<string, string> } => ({ headers: { 'idempotency-key': name } });

describe('a request with an Idempotency-Key', () => {
  it('is executed once under 100 parallel repeats, which all get the same run', async () => {
    const { key, threadId } = await conversation();
    service.models.always(says('only once'));

    const answers = await Promise.all(
      Array.from({ length: 100 }, () =>
        service.http<{ run: { id: string }; message: { content: string } }>('POST', `/v1/threads/${threadId}/runs`, {
          key,
          body: message('Hi'),
          ...named('k1'),
        }),
      ),
    );

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.run.id)).size).toBe(1);
    expect(service.models.requests).toHaveLength(1);
    expect(await contents(key, threadId)).toEqual(['Hi', 'only once']);
  });

  it('joins the run under way: the stream of a repeat has all events', async () => {
    const { key, threadId } = await conversation();
    const held = new HeldReply(['one', ' two'], [' three']);
    service.models.next(held.script);
    const path = `/v1/threads/${threadId}/runs/stream`;
    const read = async (): Promise<StreamedEvent[]> => {
      const events: StreamedEvent[] = [];
      for await (const event of service.stream(path, { key, body: message('Hi'), ...named('k2') })) events.push(event);
      return events;
    };
    const first = read();
    await held.asked;
    const second = read();
    held.finish();

    expect(await second).toEqual(await first);
    expect((await first).at(-1)?.event.type).toBe('RUN_FINISHED');
    expect(service.models.requests).toHaveLength(1);
  });

  it('answers a repeat after the end with the first result, even a failure', async () => {
    const { key, threadId } = await conversation();
    service.models.always(refuses(401));
    const send = () =>
      service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message('Hi'), ...named('k3') });

    const first = await send();
    const repeat = await send();

    expect(first.status).toBe(502);
    expect(repeat.status).toBe(first.status);
    expect(repeat.body).toEqual(first.body);
    expect(service.models.requests).toHaveLength(1);
  });

  it('refuses the same key with another body (422) and stores nothing', async () => {
    const { key, threadId } = await conversation();
    service.models.always(says('first'));
    await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message('Hi'), ...named('k4') });

    const other = await service.http('POST', `/v1/threads/${threadId}/runs`, {
      key,
      body: message('Bye'),
      ...named('k4'),
    });

    expect(other.status).toBe(422);
    expect(Object.keys(other.body).sort()).toEqual(['error', 'message']);
    expect(await contents(key, threadId)).toEqual(['Hi', 'first']);
  });

  it('does not use up the key when the request was refused', async () => {
    const { key, threadId } = await conversation();
    const held = new HeldReply(['busy']);
    service.models.next(held.script, says('now'));
    const path = `/v1/threads/${threadId}/runs`;
    const first = service.http('POST', path, { key, body: message('One') });
    await held.asked;
    expect((await service.http('POST', path, { key, body: message('Two'), ...named('k5') })).status).toBe(409);
    held.finish();
    await first;

    expect((await service.http('POST', path, { key, body: message('Two'), ...named('k5') })).status).toBe(200);
  });

  it('makes one thread for any number of repeats', async () => {
    const { key, agentId } = await conversation();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        service.http<{ id: string }>('POST', '/v1/threads', { key, body: { assistant_id: agentId }, ...named('t1') }),
      ),
    );

    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  it('belongs to the organization: another one may use the same key', async () => {
    const [one, two] = [await conversation(), await conversation()];
    service.models.always(says('reply'));
    for (const { key, threadId } of [one, two]) {
      const answer = await service.http('POST', `/v1/threads/${threadId}/runs`, {
        key,
        body: message('Hi'),
        ...named('same'),
      });
      expect(answer.status).toBe(200);
    }
    expect(service.models.requests).toHaveLength(2);
  });

  it.each(['', ' ', 'with space', 'x'.repeat(256), 'ümlaut'])('of the form %j is refused (400)', async (name) => {
    const { key, threadId } = await conversation();
    const header = Buffer.from(name, 'utf8').toString('latin1');

    const answer = await service.http('POST', `/v1/threads/${threadId}/runs`, {
      key,
      body: message('Hi'),
      ...named(header),
    });

    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'FST_ERR_VALIDATION' });
  });
});
