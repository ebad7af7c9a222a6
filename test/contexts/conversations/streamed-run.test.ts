import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it } from '@jest/globals';
import { message, useService, type StreamedEvent } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { says } from '../../support/scripted-models.js';

const service = useService();

describe.each(AGENT_WIRES)('a streamed run on $provider', ({ provider, model }) => {
  it('streams AG-UI events, numbered from 1, with the stored message as the result', async () => {
    const { key } = await service.organization();
    const agentId = await service.agent(key, { provider: { type: provider, model } });
    const threadId = await service.thread(key, agentId);
    service.models.next(says('Hello', ' there'));

    const events: StreamedEvent[] = [];
    const path = `/v1/threads/${threadId}/runs/stream`;
    for await (const streamed of service.stream(path, { key, body: message('Hi') })) events.push(streamed);

    expect(events.map(({ event }) => event.type)).toEqual([
      'RUN_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(events.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', '6']);
    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    const listed = await service.http<{ messages: { id: string }[] }>('GET', `/v1/threads/${threadId}/messages`, {
      key,
    });
    expect(events[1]?.event).toMatchObject({ messageId: listed.body.messages[1]?.id });
    expect(events.at(-1)?.event).toMatchObject({
      outcome: { type: 'success' },
      usage: [{ provider, model, inputTokens: 11, outputTokens: 7, totalTokens: 18 }],
      result: { run: { status: 'completed' }, message: listed.body.messages[1] },
    });
  });
});
