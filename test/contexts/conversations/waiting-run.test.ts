import { describe, expect, it } from '@jest/globals';
import { message, useService } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { says } from '../../support/scripted-models.js';

const service = useService();

describe.each(AGENT_WIRES)('a waiting run on $provider', ({ provider, model }) => {
  it("answers with the model's reply and stores the conversation", async () => {
    const { key } = await service.organization();
    const agentId = await service.agent(key, { systemPrompt: 'You are brief.', provider: { type: provider, model } });
    const threadId = await service.thread(key, agentId);
    service.models.next(says('Hello', ' there'));

    const answer = await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message('Hi') });

    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-thread-id')).toBe(threadId);
    expect(answer.body).toMatchObject({
      run: {
        thread_id: threadId,
        assistant_id: agentId,
        status: 'completed',
        usage: { inputTokens: 11, outputTokens: 7, totalTokens: 18 },
        error: null,
      },
      message: { role: 'assistant', content: 'Hello there', status: 'completed', thread_id: threadId },
      interrupts: [],
    });
    const listed = await service.http('GET', `/v1/threads/${threadId}/messages`, { key });
    expect(listed.body).toMatchObject({
      messages: [
        { role: 'user', content: 'Hi', status: 'completed' },
        { role: 'assistant', content: 'Hello there' },
      ],
      truncated: false,
    });
  });

  it('gives the model the prompt and the whole conversation so far', async () => {
    const { key } = await service.organization();
    const agentId = await service.agent(key, { systemPrompt: 'You are brief.', provider: { type: provider, model } });
    const threadId = await service.thread(key, agentId);
    service.models.next(says('First answer'), says('Second answer'));

    await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message('First question') });
    await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message('Second question') });

    const sent = JSON.stringify(service.models.requests.at(-1)?.body);
    expect(sent).toContain('You are brief.');
    const order = ['First question', 'First answer', 'Second question'].map((text) => sent.indexOf(text));
    expect(order.every((position) => position >= 0)).toBe(true);
    expect(order).toEqual([...order].sort((left, right) => left - right));
    expect(service.models.unexpected).toEqual([]);
  });
});

describe('a user message that is blank', () => {
  it('is 400 on every route without an attachment, and nothing is stored', async () => {
    const { key } = await service.organization();
    const agentId = await service.agent(key);
    const threadId = await service.thread(key, agentId);
    const blank = { role: 'user', content: ' \n ' };
    const agUi = {
      threadId: 'mine',
      runId: 'run',
      messages: [{ id: 'm', ...blank }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    };
    const requests: [string, object, string][] = [
      [`/v1/threads/${threadId}/runs`, { message: blank }, 'body/message/content'],
      [`/v1/threads/${threadId}/runs/stream`, { message: blank }, 'body/message/content'],
      ['/v1/chat/completions', { assistant_id: agentId, messages: [blank] }, 'body/messages/0/content'],
      [
        '/v1/chat/completions',
        { model: agentId, messages: [{ ...blank, content: [{ type: 'text', text: ' \n ' }] }] },
        'body/messages/0/content',
      ],
      [`/v1/agents/${agentId}/ag-ui`, agUi, 'body/messages/0/content'],
    ];
    for (const [path, body, field] of requests) {
      const answer = await service.http('POST', path, { key, body });
      expect([path, answer.status, answer.body]).toMatchObject([
        path,
        400,
        { message: `${field} must not be blank, unless something is attached` },
      ]);
    }
    expect((await service.http('GET', `/v1/threads/${threadId}/messages`, { key })).body).toMatchObject({
      messages: [],
    });
    expect(service.models.requests).toEqual([]);
  });
});
