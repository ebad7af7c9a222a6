import { describe, expect, it } from '@jest/globals';
import { json, stream } from '../../../test/support/scripted-chat-service.js';
import { ChatClient } from './chat-client.js';
import { MESSAGES, message, RUNS, said, service, useChatService, WHOLE, world } from './chat-client.support.js';
import type { ChatEvent } from './chat-state.js';
import type { ReactionRequest } from './options.js';
import type { Seams } from './seams.js';

useChatService();

const REACTION = 'PUT /v1/threads/t-1/messages/m-2/reaction';

function relayed(seams: Partial<Seams> = {}): { client: ChatClient; events: ChatEvent[]; slept: number[] } {
  const slept: number[] = [];
  const client = new ChatClient(
    { mode: 'proxy', baseUrl: service.url, assistantId: 'a-1', headers: { 'x-csrf': '1' } },
    {
      storage: null,
      location: null,
      sleep: (ms, signal) => {
        if (ms > 20_000)
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          );
        slept.push(ms);
        return Promise.resolve();
      },
      ...seams,
    },
  );
  const events: ChatEvent[] = [];
  client.on((event) => events.push(event));
  return { client, events, slept };
}

describe('a rating', () => {
  it('has the comment of the visitor, cut to its limit', async () => {
    const { client } = relayed();
    service.next('POST /v1/threads', json(200, { id: 't-1' }));
    service.next(RUNS, stream(WHOLE));
    service.next(REACTION, json(200, {}));
    await client.start();
    await client.send('Hi');
    expect(await client.react(client.state.messages[1]!.key, 'thumbs_down', '🚲'.repeat(2_001))).toBe(true);
    expect(service.sent(REACTION)).toEqual([{ reaction: 'thumbs_down', comment: '🚲'.repeat(2_000) }]);
  });

  it("goes to the customer's server in session mode, with its comment", async () => {
    const rated: ReactionRequest[] = [];
    const reactions = (request: ReactionRequest): Promise<void> => {
      rated.push(request);
      return Promise.resolve();
    };
    const { client } = world({ options: { reactions } });
    service.next(RUNS, stream(WHOLE));
    await client.start();
    await client.send('Hi');
    expect(await client.react(client.state.messages[1]!.key, 'thumbs_down', 'Too short')).toBe(true);
    const known = { sessionId: 's-1', threadId: 't-1', messageId: 'm-2' };
    expect(rated).toEqual([{ ...known, reaction: 'thumbs_down', comment: 'Too short' }]);
  });

  it('that is not stored is taken back, and reported to the page alone', async () => {
    const reactions = (): Promise<void> => {
      throw new Error('No.');
    };
    const { client, events } = world({ options: { reactions } });
    service.next(RUNS, stream(WHOLE));
    await client.start();
    await client.send('Hi');
    expect(await client.react(client.state.messages[1]!.key, 'thumbs_up')).toBe(false);
    expect(client.state).toMatchObject({ failure: null, messages: [{}, { reaction: null }] });
    expect(events.at(-1)).toEqual({
      type: 'chatError',
      failure: { code: 'reaction', message: 'No.', terminal: false },
    });
  });

  it('of a restored reply is shown', async () => {
    const credentials = () => Promise.resolve({ pass: 'p', threadId: 't-1', sessionId: 's', expiresIn: 900 });
    const { client } = world({ options: { credentials } });
    const rated = { reactions: { thumbs_down: { comment: null, createdAt: '' } } };
    service.next(
      MESSAGES,
      json(200, { messages: [message('m-2', 'assistant', 'Hm.', 'r-1', rated)], truncated: false }),
    );
    await client.start();
    expect(client.state.messages[0]?.reaction).toBe('thumbs_down');
  });
});

describe('a file', () => {
  const file = new File(['text'], 'a.txt', { type: 'text/plain' });
  const uploaded = { id: 'f-1', name: 'a.txt', url: 'https://files.example/a', contentType: 'text/plain', size: 4 };
  const answer = (status: number, body: object, headers: Record<string, string> = {}): Response =>
    new Response(JSON.stringify(body), { status, headers });

  it('is uploaded with the headers of the relay; the client reports its progress, and a 429 does not change the chat', async () => {
    const answers = [answer(429, { code: 'rate_limited' }, { 'retry-after': '3' }), answer(200, uploaded)];
    const sent: Parameters<Seams['upload']>[1][] = [];
    const { client, slept } = relayed({
      upload: (url, init, onProgress) => {
        expect(url).toBe(`${service.url}/v1/files/upload`);
        sent.push(init);
        onProgress(0.5);
        return Promise.resolve(answers.shift()!);
      },
    });
    await client.start();
    const statuses = new Set<string>();
    client.subscribe(() => statuses.add(client.state.status));
    const progress: number[] = [];
    expect(await client.upload(file, { onProgress: (part) => progress.push(part) })).toEqual(uploaded);
    expect([progress, slept, [...statuses]]).toEqual([[0.5, 0.5], [3_000], []]);
    expect(sent[0]?.headers).toEqual({ 'x-csrf': '1' });
    expect([sent[0]?.body.get('assistant_id'), (sent[0]?.body.get('file') as File).name]).toEqual(['a-1', 'a.txt']);
  });

  it.each([
    [413, { code: 'FST_ERR_CTP_BODY_TOO_LARGE' }, 'file_too_large'],
    [400, { code: 'FST_ERR_VALIDATION' }, 'file_type'],
    [429, { code: 'session_turn_cap_exhausted' }, 'session_turn_cap_exhausted'],
  ])('that is refused (%i) is a failure with a code, which does not end the chat', async (status, body, code) => {
    const { client, events } = relayed({ upload: () => Promise.resolve(answer(status, body)) });
    await client.start();
    await expect(client.upload(file)).rejects.toMatchObject({ code });
    expect(events).toMatchObject([{ type: 'chatError', failure: { code, terminal: false } }]);
    expect(client.state).toMatchObject({ status: 'ready', failure: null });
  });

  it('whose upload the visitor ends is no failure', async () => {
    const ending = new AbortController();
    const { client, events } = relayed({
      upload: (_url, { signal }) => {
        ending.abort();
        return Promise.reject(signal.reason as Error);
      },
    });
    await client.start();
    const uploading = client.upload(file, { signal: ending.signal });
    await expect(uploading).rejects.toMatchObject({ name: 'AbortError' });
    expect(events).toEqual([]);
  });

  it('that the service cannot use with a message has a code of its own among refusals', async () => {
    const { client } = relayed();
    service.next('POST /v1/threads', json(200, { id: 't-1' }));
    const refusal = json(422, { error: 'unprocessable_entity', message: 'No.' });
    service.next(RUNS, refusal, refusal);
    await client.start();
    await client.send('Hi', [uploaded]);
    expect(client.state.failure).toEqual({ code: 'attachment_failed', message: 'No.', terminal: false });
    await client.send('Hi');
    expect(client.state.failure).toMatchObject({ code: 'unprocessable_entity' });
  });

  it('can be sent without words', async () => {
    const { client } = relayed();
    service.next('POST /v1/threads', json(200, { id: 't-1' }));
    service.next(RUNS, stream(WHOLE));
    await client.start();
    await client.send('  ');
    await client.send('', [uploaded]);
    expect(service.sent(RUNS)).toMatchObject([{ message: { content: ' ', attachments: [{ name: 'a.txt' }] } }]);
    expect(said(client)[0]).toEqual(['user', '', 'completed']);
  });
});
