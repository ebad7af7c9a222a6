import { describe, expect, it } from '@jest/globals';
import { message, useService } from '../../support/harness.js';
import { PROVIDER_WIRES } from '../../support/provider-wire.js';
import { says } from '../../support/scripted-models.js';

const service = useService();

describe.each(PROVIDER_WIRES)('a waiting run on $provider', ({ provider, model }) => {
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
