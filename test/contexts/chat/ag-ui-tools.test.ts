import { randomUUID } from 'node:crypto';
import { HttpAgent, type Message, type Tool } from '@ag-ui/client';
import { describe, expect, it } from '@jest/globals';
import { approve, ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { type Answer, useService } from '../../support/harness.js';
import { AGENT_WIRES, anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import type { InterruptView } from '../../support/talk.js';
import { Chat } from './support.js';

const service = useService({ extensions: scriptedRuns });

const WEATHER: Tool = {
  name: 'weather',
  description: 'The weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};
const OSLO = { id: 'w1', name: 'weather', input: { city: 'Oslo' } };

const userMessage = (content: string): Message => ({ id: randomUUID(), role: 'user', content });
const toolMessage = (toolCallId: string, content: string, error?: string): Message => ({
  ...{ id: randomUUID(), role: 'tool', toolCallId, content },
  ...(error === undefined ? {} : { error }),
});

/** AG-UI's own client, with the ids of the calls that the last run left to it. */
class FrontEnd extends HttpAgent {
  pending: readonly string[] = [];
  interrupts: readonly InterruptView[] = [];

  constructor(chat: Chat) {
    super({
      url: `${service.baseUrl}/v1/agents/${chat.agentId}/ag-ui`,
      headers: { authorization: `Bearer ${chat.key}` },
      threadId: randomUUID(),
    });
  }

  async ask(resume: readonly object[] = [], tools: Tool[] = [WEATHER]): Promise<Message[]> {
    this.pending = [];
    this.interrupts = [];
    const { newMessages } = await this.runAgent(
      { tools, ...(resume.length === 0 ? {} : { resume: resume as never }) },
      {
        onRunFinishedEvent: (ended) => {
          if (ended.outcome === 'success') this.pending = ended.pendingToolCallIds;
          if (ended.outcome === 'interrupt') this.interrupts = ended.interrupts as unknown as InterruptView[];
        },
      },
    );
    return newMessages;
  }
}

function lastResults(): unknown {
  return anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {});
}

async function threadOf(chat: Chat): Promise<string> {
  return (await chat.threads())[0]?.id ?? '';
}

describe.each(AGENT_WIRES)('front-end tools of the official AG-UI client, on $provider', ({ provider, model }) => {
  it('are called, and their results continue the conversation', async () => {
    const chat = await Chat.start(service, { provider: { type: provider, model } });
    const client = new FrontEnd(chat);
    client.messages = [userMessage('Weather?')];
    service.models.next(answers({ thinking: 'Hm.', opaque: 's', text: 'Let me look.', calls: [OSLO] }));

    const first = await client.ask();

    expect(client.pending).toEqual(['w1']);
    expect(first).toMatchObject([
      { role: 'assistant', content: 'Let me look.', toolCalls: [{ id: 'w1', function: { name: 'weather' } }] },
    ]);
    service.models.next(says('It rains.'), says('As I said.'));
    client.messages.push(toolMessage('w1', 'rain'));
    const second = await client.ask();
    client.messages.push(userMessage('Sure?'));
    await client.ask();

    expect(second).toMatchObject([{ role: 'assistant', content: 'It rains.' }]);
    expect(client.pending).toEqual([]);
    expect(await chat.lines(await threadOf(chat))).toEqual([
      ...['user: Weather?', 'assistant: Let me look.', 'assistant: It rains.', 'user: Sure?', 'assistant: As I said.'],
    ]);
    expect(JSON.stringify(service.models.requests.at(-1)?.body)).toContain('rain');
  });
});

describe('front-end tools', () => {
  it('take several rounds, with calls of the agent in between', async () => {
    const chat = await Chat.start(service);
    const client = new FrontEnd(chat);
    client.messages = [userMessage('Weather?')];
    service.models.next(answers({ calls: [OSLO, { ...OSLO, id: 'w2' }] }));
    await client.ask();
    during(await threadOf(chat), { tools: [tool('clock', () => output('noon'), 'exempt')] });
    client.messages.push(toolMessage('w2', '', 'no network'), toolMessage('w1', 'rain'));
    service.models.next(
      answers({
        calls: [
          { id: 'c1', name: 'clock' },
          { ...OSLO, id: 'w3' },
        ],
      }),
    );

    await client.ask();

    expect(lastResults()).toMatchObject([
      { id: 'w1', output: 'rain' },
      { id: 'w2', output: 'no network', isError: true },
    ]);
    expect(client.pending).toEqual(['w3']);
    client.messages.push(toolMessage('w3', 'sun'));
    service.models.next(says('Done.'));
    await client.ask();
    expect(lastResults()).toMatchObject([{ id: 'w1' }, { id: 'w2' }, { id: 'c1' }, { id: 'w3', output: 'sun' }]);
  });

  it('are answered together with approvals', async () => {
    const chat = await Chat.start(service, ASKS_ALWAYS);
    const client = new FrontEnd(chat);
    client.messages = [userMessage('Hi')];
    service.models.next(says('Hello.'));
    await client.ask();
    const pay = new NotingTool('pay');
    during(await threadOf(chat), { tools: [pay.offered] });
    client.messages.push(userMessage('Pay, and weather?'));
    service.models.next(answers({ calls: [{ id: 'p1', name: 'pay', input: { sum: 5 } }, OSLO] }));
    await client.ask();
    expect(client.interrupts).toMatchObject([{ reason: 'tool_approval', toolCallId: 'p1' }]);
    client.messages.push(toolMessage('w1', 'rain'));
    service.models.next(says('Done.'));

    const [last] = (await client.ask(client.interrupts.map(approve))).slice(-1);

    expect(last).toMatchObject({ content: 'Done.' });
    expect(pay.inputs).toEqual([{ sum: 5 }]);
    expect(lastResults()).toMatchObject([{ id: 'p1' }, { id: 'w1', output: 'rain' }]);
  });

  it('keep a result that comes together with the next message of the user', async () => {
    const chat = await Chat.start(service);
    const client = new FrontEnd(chat);
    client.messages = [userMessage('Weather?')];
    service.models.next(answers({ calls: [OSLO, { ...OSLO, id: 'w2' }] }), says('Fine.'), says('Yes.'));
    await client.ask();
    client.messages.push(toolMessage('w1', 'rain'), userMessage('Thanks'));
    await client.ask();
    expect(lastResults()).toMatchObject([
      { id: 'w1', output: 'rain', isError: false },
      { id: 'w2', output: expect.stringContaining('declined'), isError: true },
    ]);
    client.messages.push(userMessage('Sure?'));
    await client.ask();
    expect(lastResults()).toMatchObject([{ id: 'w1', output: 'rain' }, { id: 'w2' }]);
  });

  it('are declined by a message of the user', async () => {
    const chat = await Chat.start(service);
    const client = new FrontEnd(chat);
    client.messages = [userMessage('Weather?')];
    service.models.next(answers({ calls: [OSLO] }), says('Fine.'));
    await client.ask();
    client.messages.push(userMessage('Never mind'));
    await client.ask();
    expect(lastResults()).toMatchObject([{ id: 'w1', output: expect.stringContaining('next message') }]);
  });

  const post = (chat: Chat, body: object): Promise<Answer<{ message: string }>> =>
    service.http<{ message: string }>('POST', `/v1/agents/${chat.agentId}/ag-ui`, {
      key: chat.key,
      body: { threadId: randomUUID(), runId: 'r', messages: [userMessage('Hi')], ...body },
    });

  it.each([
    ['a name of a tool of the agent', { tools: [{ ...WEATHER, name: 'memory_save' }] }, 'body/tools/0 has the name'],
    ['a bad name', { tools: [{ ...WEATHER, name: 'a b' }] }, 'body/tools/0/name'],
    ['no object as parameters', { tools: [{ ...WEATHER, parameters: 'x' }] }, 'body/tools/0/parameters'],
    ['65 tools', { tools: Array.from({ length: 65 }, () => WEATHER) }, 'body/tools'],
    ['a result on a new thread', { messages: [userMessage('Hi'), toolMessage('w1', 'rain')] }, 'no thread'],
  ])('are refused with %s, and nothing is stored', async (_what, body, said) => {
    const chat = await Chat.start(service);
    const refused = await post(chat, body);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(said)]);
    expect(await chat.threads()).toEqual([]);
  });

  it('take a second result under an id that the model has used before', async () => {
    const chat = await Chat.start(service);
    const client = new FrontEnd(chat);
    client.messages = [userMessage('Hi')];
    service.models.next(calls('weather', { day: 1 }, 'call_0'), calls('weather', { day: 2 }, 'call_0'), says('Done.'));
    await client.ask();
    client.messages = [...client.messages, toolMessage('call_0', 'rain')];
    await client.ask();
    client.messages = [...client.messages, toolMessage('call_0', 'sun')];
    await client.ask();
    expect(anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {}).map(({ output }) => output)).toEqual([
      'rain',
      'sun',
    ]);
  });

  it('are refused with results of calls that are not open', async () => {
    const chat = await Chat.start(service);
    const client = new FrontEnd(chat);
    client.messages = [userMessage('Hi')];
    service.models.next(says('Hello.'));
    await client.ask();
    const messages = [...client.messages, toolMessage('w9', 'rain')];
    const refused = await post(chat, { threadId: client.threadId, messages });
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringContaining('none of the thread is open'),
    ]);
    expect(service.models.requests).toHaveLength(1);
  });
});
