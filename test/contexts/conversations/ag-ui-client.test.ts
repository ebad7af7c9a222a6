import { HttpAgent, type Message } from '@ag-ui/client';
import { describe, expect, it } from '@jest/globals';
import { message, useService } from '../../support/harness.js';
import { PROVIDER_WIRES } from '../../support/provider-wire.js';
import { answers, breaksOffAfter, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';

const service = useService({ extensions: scriptedRuns });

/** The official client of the protocol: checks the order of events, and builds its messages from them. */
class OfficialClient extends HttpAgent {
  constructor(
    talk: Talk,
    private readonly text: string,
    query = '',
  ) {
    super({
      url: `${service.baseUrl}${talk.path}/runs/stream${query}`,
      threadId: talk.threadId,
      headers: { authorization: `Bearer ${talk.key}` },
    });
  }

  protected override requestInit(): RequestInit {
    return {
      method: 'POST',
      headers: { ...this.headers, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(message(this.text)),
    };
  }
}

describe.each(PROVIDER_WIRES)('the official AG-UI client on $provider', (wire) => {
  it('accepts a run with thinking, texts and tools, and builds the stored message from it', async () => {
    const talk = await Talk.start(service, { provider: { type: wire.provider, model: wire.model } });
    during(talk.threadId, { tools: [tool('weather', ({ city }) => output(`rain in ${String(city)}`))] });
    const asked = ['Oslo', 'Rome'].map((city) => ({ id: `call-${city}`, name: 'weather', input: { city } }));
    service.models.next(answers({ thinking: 'Hm.', opaque: 's', text: 'Let me look.', calls: asked }), says('It rains', ' twice.'));

    const client = new OfficialClient(talk, 'Weather?', '?reasoning=true');
    const { result, newMessages } = await client.runAgent();

    const [, stored] = await talk.messages();
    expect(result).toMatchObject({ run: { status: 'completed' }, message: stored });
    const built = newMessages.find(({ role }) => role === 'assistant') as Extract<Message, { role: 'assistant' }>;
    expect(built).toMatchObject({ id: stored?.id, content: stored?.content });
    expect(built.toolCalls?.map(({ id, function: { name, arguments: input } }) => ({ id, name, input: JSON.parse(input) as unknown }))).toEqual(asked);
    expect(newMessages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual(['rain in Oslo', 'rain in Rome']);
    expect(newMessages.filter(({ role }) => role === 'reasoning').map(({ content }) => content)).toEqual(['Hm.']);
  });

  it('hears of a run that fails under way, with the text so far', async () => {
    const talk = await Talk.start(service, { provider: { type: wire.provider, model: wire.model } });
    service.models.next(breaksOffAfter('Half'));
    const client = new OfficialClient(talk, 'Hi');
    const errors: unknown[] = [];
    await client.runAgent({}, { onRunErrorEvent: ({ event }) => void errors.push(event.code) }).catch(() => undefined);
    expect(errors).toEqual(['provider_error']);
    expect(client.messages).toMatchObject([{ role: 'assistant', content: 'Half' }]);
  });
});
