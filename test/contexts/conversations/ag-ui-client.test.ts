import type { Message } from '@ag-ui/client';
import { describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { OfficialClient } from '../../support/official-client.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { answers, breaksOffAfter, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';
import { answersBlocks, foundBlock, searchBlock, searchErrorBlock, textBlock } from '../../support/web-search.js';

const service = useService({ extensions: scriptedRuns });

describe.each(AGENT_WIRES)('the official AG-UI client on $provider', (wire) => {
  it('accepts a run with reasoning, texts and tools, and builds the stored message from it', async () => {
    const talk = await Talk.start(service, { provider: { type: wire.provider, model: wire.model } });
    during(talk.threadId, { tools: [tool('weather', ({ city }) => output(`rain in ${String(city)}`))] });
    const asked = ['Oslo', 'Rome'].map((city) => ({ id: `call-${city}`, name: 'weather', input: { city } }));
    service.models.next(
      answers({ thinking: 'Hm.', opaque: 's', text: 'Let me look.', calls: asked }),
      says('It rains', ' twice.'),
    );

    const client = new OfficialClient(service.baseUrl, talk, 'Weather?', '?reasoning=true');
    const { result, newMessages } = await client.runAgent();

    const [, stored] = await talk.messages();
    expect(result).toMatchObject({ run: { status: 'completed' }, message: stored });
    const built = newMessages.find(({ role }) => role === 'assistant') as Extract<Message, { role: 'assistant' }>;
    expect(built).toMatchObject({ id: stored?.id, content: stored?.content });
    expect(
      built.toolCalls?.map(({ id, function: { name, arguments: input } }) => ({
        id,
        name,
        input: JSON.parse(input) as unknown,
      })),
    ).toEqual(asked);
    expect(newMessages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
      'rain in Oslo',
      'rain in Rome',
    ]);
    expect(newMessages.filter(({ role }) => role === 'reasoning').map(({ content }) => content)).toEqual(['Hm.']);
  });

  it('gets the error of a run that fails midway, with the text so far', async () => {
    const talk = await Talk.start(service, { provider: { type: wire.provider, model: wire.model } });
    service.models.next(breaksOffAfter('Half'));
    const client = new OfficialClient(service.baseUrl, talk, 'Hi');
    const errors: unknown[] = [];
    await client.runAgent({}, { onRunErrorEvent: ({ event }) => void errors.push(event.code) }).catch(() => undefined);
    expect(errors).toEqual(['provider_error']);
    expect(client.messages).toMatchObject([{ role: 'assistant', content: 'Half' }]);
  });
});

it('the official AG-UI client accepts a run in which the provider searches the web', async () => {
  const talk = await Talk.start(service, { tools: { integrations: ['webSearch'] } });
  const page = { url: 'https://example.com/oslo', title: 'Oslo' };
  service.models.next(
    answersBlocks([
      ...[textBlock('I look it up.'), searchBlock('s1', { query: 'oslo' }), foundBlock('s1', [page])],
      ...[
        searchBlock('s2', { query: 'rome' }),
        searchErrorBlock('s2', 'unavailable'),
        textBlock('Found '),
        textBlock('it.'),
      ],
    ]),
  );

  const { result, newMessages } = await new OfficialClient(service.baseUrl, talk, 'Where?').runAgent();

  const [, stored] = await talk.messages();
  expect(result).toMatchObject({ run: { status: 'completed' }, message: stored });
  const built = newMessages.find(({ role }) => role === 'assistant') as Extract<Message, { role: 'assistant' }>;
  expect(built).toMatchObject({ id: stored?.id, content: 'I look it up.\n\nFound it.' });
  expect(built.toolCalls?.map(({ id, function: { name, arguments: input } }) => [id, name, input])).toEqual([
    ['s1', 'web_search', '{"query":"oslo"}'],
    ['s2', 'web_search', '{"query":"rome"}'],
  ]);
  expect(newMessages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
    'Oslo\nhttps://example.com/oslo',
    expect.stringContaining('failed'),
  ]);
});
