import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { answers } from '../../support/scripted-models.js';
import { Talk, typesOf } from '../../support/talk.js';

const service = useService();

const REASONING = [
  'REASONING_START',
  'REASONING_MESSAGE_START',
  'REASONING_MESSAGE_CONTENT',
  'REASONING_MESSAGE_END',
  'REASONING_END',
];
const TEXT = ['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'];

describe.each(AGENT_WIRES)('the reasoning of a model on $provider', ({ provider, model }) => {
  const thinks = answers({ thinking: 'Let me see.', text: 'Hello' });

  it('is streamed to a caller that asks for it, apart from the text', async () => {
    const talk = await Talk.start(service, { provider: { type: provider, model } });
    service.models.next(thinks);
    const events = await talk.streamed('Hi', {}, '?reasoning=true');
    expect(typesOf(events)).toEqual(['RUN_STARTED', ...REASONING, ...TEXT, 'RUN_FINISHED']);
    expect(events.map(({ id }) => Number(id))).toEqual(events.map((_, index) => index + 1));
    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    expect(events[3]?.event).toMatchObject({ delta: 'Let me see.' });
    expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Hello']);
  });

  it.each(['', '?reasoning=false'])('is not sent otherwise (%s), and its numbers are skipped', async (query) => {
    const talk = await Talk.start(service, { provider: { type: provider, model } });
    service.models.next(thinks);
    const events = await talk.streamed('Hi', {}, query);
    expect(typesOf(events)).toEqual(['RUN_STARTED', ...TEXT, 'RUN_FINISHED']);
    expect(events.map(({ id }) => Number(id))).toEqual([1, 7, 8, 9, 10]);
  });
});

it('a reasoning query that is not a boolean is 400', async () => {
  const talk = await Talk.start(service);
  const body = { message: { role: 'user', content: 'Hi' } };
  expect(await service.http('POST', `${talk.path}/runs/stream?reasoning=much`, { key: talk.key, body })).toMatchObject({
    status: 400,
    body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining('reasoning') },
  });
});
