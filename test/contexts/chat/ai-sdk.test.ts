import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, it } from '@jest/globals';
import { APICallError, generateText, type LanguageModel, streamText } from 'ai';
import { useService } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { breaksOffAfter, says } from '../../support/scripted-models.js';
import { Chat } from './support.js';

const service = useService();

function modelOf({ key, agentId }: { key: string; agentId: string }): LanguageModel {
  const provider = createOpenAICompatible({
    name: 'agents',
    baseURL: `${service.baseUrl}/v1`,
    apiKey: key,
    includeUsage: true,
  });
  return provider(agentId);
}

describe.each(AGENT_WIRES)('the AI SDK, on an agent of $provider', ({ provider, model }) => {
  it('generates text with its usage', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    service.models.next(says('Hello', ' there'));

    const result = await generateText({ model: modelOf(chat), system: 'Be kind.', prompt: 'Hi', maxRetries: 0 });

    expect(result.text).toBe('Hello there');
    expect(result.finishReason).toBe('stop');
    expect(result.usage).toMatchObject({ inputTokens: 11, outputTokens: 7, totalTokens: 18 });
    expect(JSON.stringify(service.models.requests.at(-1)?.body)).toContain('Be kind.');
  });

  it('streams text with its usage, over several turns of its own history', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    service.models.next(says('Hello', ' there'));

    const result = streamText({
      model: modelOf(chat),
      messages: [
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Two' },
        { role: 'user', content: [{ type: 'text', text: 'Three' }] },
      ],
      maxRetries: 0,
    });

    const texts: string[] = [];
    for await (const text of result.textStream) texts.push(text);
    expect(texts).toEqual(['Hello', ' there']);
    expect(await result.finishReason).toBe('stop');
    expect(await result.usage).toMatchObject({ inputTokens: 11, outputTokens: 7 });
    const threadId = (await result.response).headers?.['x-thread-id'] ?? '';
    expect(await chat.lines(threadId)).toEqual([
      'user: One',
      'assistant: Two',
      'user: Three',
      'assistant: Hello there',
    ]);
  });
});

describe('the AI SDK', () => {
  it('throws its own error, with the status, for an error before a stream', async () => {
    const chat = await Chat.start(service);
    const model = modelOf({ key: chat.key, agentId: '01890000-0000-7000-8000-000000000000' });

    const thrown: unknown = await generateText({ model, prompt: 'Hi', maxRetries: 0 }).catch((error: unknown) => error);

    expect(APICallError.isInstance(thrown)).toBe(true);
    expect(thrown).toMatchObject({ statusCode: 404, responseBody: expect.stringContaining('no such agent') });
  });

  it('reports the error of a stream that had begun, after the text so far', async () => {
    const chat = await Chat.start(service);
    service.models.next(breaksOffAfter('Half'));
    const errors: unknown[] = [];

    const result = streamText({
      model: modelOf(chat),
      prompt: 'Hi',
      maxRetries: 0,
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    let text = '';
    for await (const part of result.fullStream) if (part.type === 'text-delta') text += part.text;

    expect(text).toBe('Half');
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ code: 'provider_error', type: 'server_error' });
  });
});
