import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readEvents } from '../../support/sse.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { calls, says } from '../../support/scripted-models.js';
import { Talk, textOf } from '../../support/talk.js';
import { connect, customServer } from '../../support/tool-integrations.js';
import { ToolServer } from '../../support/tool-server.js';
import { group, setHooks, useHookServer, useHookService } from './support.js';
import { sentSystem } from '../../support/sent-system.js';

const service = useHookService();
const server = useHookServer();
let tickets: ToolServer;

beforeAll(async () => {
  tickets = await ToolServer.start('streamableHttp', { name: 'close' });
});
afterAll(() => tickets.close());

/** Sends a message over a channel and returns the text of the reply. */
type Say = (talk: Talk, text: string) => Promise<string>;

async function completion(talk: Talk, text: string, stream: boolean): Promise<Response> {
  const body = {
    assistant_id: talk.agentId,
    messages: [{ role: 'user', content: text }],
    stream,
    config: { userContext: { plan: 'gold' } },
  };
  return service.fetch('POST', '/v1/chat/completions', { key: talk.key, body });
}

const WITH_CONTEXT = { config: { userContext: { plan: 'gold' } } };

const CHANNELS: readonly (readonly [string, Say])[] = [
  ['a run that is waited for', async (talk, text) => (await talk.run(text, WITH_CONTEXT)).body.message?.content ?? ''],
  ['a streamed run', async (talk, text) => textOf(await talk.streamed(text, WITH_CONTEXT))],
  [
    'a run of the widget',
    async (talk, text) => textOf(await talk.streamed(text, { ...WITH_CONTEXT, widget: { version: '0.5.0' } })),
  ],
  [
    'a chat completion',
    async (talk, text) => {
      const { choices } = (await (await completion(talk, text, false)).json()) as {
        choices: { message: { content: string } }[];
      };
      return choices[0]?.message.content ?? '';
    },
  ],
  [
    'a streamed chat completion',
    async (talk, text) => {
      const response = await completion(talk, text, true);
      let said = '';
      if (!response.body) return said;
      for await (const { data } of readEvents(response.body)) {
        if (data === '[DONE]') continue;
        const { choices } = JSON.parse(data) as { choices: { delta: { content?: string } }[] };
        said += choices[0]?.delta.content ?? '';
      }
      return said;
    },
  ],
  [
    'AG-UI',
    async (talk, text) => {
      const messages = [{ id: randomUUID(), role: 'user', content: text }];
      const body = {
        threadId: randomUUID(),
        runId: randomUUID(),
        messages,
        tools: [],
        context: [],
        state: {},
        forwardedProps: { config: WITH_CONTEXT.config },
      };
      let said = '';
      for await (const { event } of service.stream(`/v1/agents/${talk.agentId}/ag-ui`, { key: talk.key, body })) {
        if (event.type === 'TEXT_MESSAGE_CONTENT') said += String(event['delta']);
      }
      return said;
    },
  ],
];

describe.each(CHANNELS)('in %s', (name, say) => {
  const path = (event: string): string => `/${encodeURIComponent(name)}/${event}`;
  const handler = (event: string, answer?: object): object => ({
    type: 'http',
    url: server.url(path(event), answer && (() => answer)),
  });

  it('the handlers of every event are called in order, and their outputs take effect', async () => {
    const talk = await Talk.start(service, { systemPrompt: 'You are kind.' });
    await connect(service, talk, customServer('Tickets', tickets));
    let stops = 0;
    const stop = {
      type: 'http',
      url: server.url(path('Stop'), () =>
        (stops += 1) === 1 ? { decision: 'block', reason: 'Name the ticket.' } : {},
      ),
    };
    await setHooks(service, talk, {
      SessionStart: [group([handler('SessionStart', { additionalContext: 'The user is a pilot.' })])],
      UserPromptSubmit: [group([handler('UserPromptSubmit', { additionalContext: 'It is Monday.' })])],
      PreToolUse: [
        group(
          [handler('PreToolUse', { hookSpecificOutput: { permissionDecision: 'allow', updatedInput: { id: 7 } } })],
          'mcp__tickets__close',
        ),
      ],
      PostToolUse: [group([handler('PostToolUse', { additionalContext: 'It was closed before.' })], 'tickets__.*')],
      Stop: [group([stop])],
    });
    server.received.length = 0;
    service.models.next(calls('mcp__tickets__close', { id: 1 }), says('Closed.'), says('It was 7.'));

    expect(await say(talk, 'Close it')).toBe('Closed.\n\nIt was 7.');

    const events = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'Stop'];
    expect(server.received.map(({ input }) => input['hook_event_name'])).toEqual(events);
    expect(
      new Set(
        server.received.map(({ input }) => JSON.stringify([input['session_id'], input['run_id'], input['agent_id']])),
      ).size,
    ).toBe(1);
    expect(server.received.map(({ headers }) => headers['x-hook-event'])).toEqual(events);
    const { body } = service.models.requests[2] ?? {};
    expect(sentSystem(body ?? {})).toBe('You are kind.\n\nThe user is a pilot.');
    expect(body?.['messages']).toMatchObject([
      { role: 'user', content: 'Close it\n\nIt is Monday.' },
      { role: 'assistant' },
      { role: 'user' },
      { role: 'assistant' },
      { role: 'user', content: 'Name the ticket.' },
    ]);
    expect(anthropicWire.toolResults(body ?? {})).toMatchObject([
      { output: 'close {"id":7}\n\nIt was closed before.', isError: false },
    ]);
  });

  it('the reply to a blocked prompt is the reason, and the model is not called', async () => {
    const talk = await Talk.start(service);
    await setHooks(service, talk, {
      UserPromptSubmit: [group([handler('blocks', { decision: 'block', reason: 'Not now.' })])],
    });
    expect(await say(talk, 'Let me in')).toBe('Not now.');
    expect(service.models.requests).toEqual([]);
  });
});
