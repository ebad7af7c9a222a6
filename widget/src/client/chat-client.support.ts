import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { frame, ScriptedChatService } from '../../../test/support/scripted-chat-service.js';
import { ChatClient } from './chat-client.js';
import type { ChatEvent, ChatFailure } from './chat-state.js';
import type { SessionCredentials, SessionOptions } from './options.js';
import type { Seams } from './seams.js';

export const RUNS = 'POST /v1/threads/t-1/runs/stream';
export const MESSAGES = 'GET /v1/threads/t-1/messages';
export const message = (id: string, role: string, content: string, runId: string | null, more: object = {}) => ({
  ...{
    id,
    thread_id: 't-1',
    role,
    content,
    attachments: [],
    createdAt: '',
    runId,
    status: 'completed',
    components: [],
    reactions: {},
  },
  ...more,
});

/** All events of one reply, as sent by the service. */
export const EVENTS = [
  { type: 'RUN_STARTED', threadId: 't-1', runId: 'r-1' },
  { type: 'TEXT_MESSAGE_START', messageId: 'm-2', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm-2', delta: 'Grüße, ' },
  { type: 'TOOL_CALL_START', toolCallId: 'c-1', toolCallName: 'look_up' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c-1', delta: '{"a":' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c-1', delta: '1}' },
  { type: 'TOOL_CALL_RESULT', toolCallId: 'c-1', content: 'found' },
  { type: 'SOMETHING_NEW', value: 1 },
  { type: 'CUSTOM', name: 'component', value: { id: 'x', component: 'confirm', props: {}, fallback: 'Sure?' } },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm-2', delta: '🚲!' },
  { type: 'TEXT_MESSAGE_END', messageId: 'm-2' },
  { type: 'RUN_FINISHED', threadId: 't-1', runId: 'r-1', outcome: { type: 'success' } },
].map((event, index) => frame(index + 1, event));
export const WHOLE = EVENTS.join('');

export let service: ScriptedChatService;

/** Starts the service before the tests of a file. */
export function useChatService(): void {
  beforeAll(async () => {
    service = await ScriptedChatService.start();
  });
  afterAll(() => service.close());
  beforeEach(() => {
    service.requests.length = 0;
  });
}

export class Tab implements Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  readonly items = new Map<string, string>();
  getItem = (key: string): string | null => this.items.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.items.set(key, value);
  removeItem = (key: string): void => void this.items.delete(key);
}

export interface World {
  readonly client: ChatClient;
  readonly slept: number[];
  readonly failures: ChatFailure[];
  readonly events: ChatEvent[];
  readonly requests: object[];
}

export function world({
  tab = new Tab(),
  options = {},
  seams = {},
}: { tab?: Tab; options?: Partial<SessionOptions>; seams?: Partial<Seams> } = {}): World {
  const slept: number[] = [];
  const requests: object[] = [];
  let now = 0;
  const credentials = (request: object): Promise<SessionCredentials> => {
    requests.push(request);
    return Promise.resolve({
      pass: `pass-${requests.length}`,
      threadId: 't-1',
      sessionId: 's-1',
      expiresIn: 900,
      resumeToken: 'rt',
      isNew: true,
    });
  };
  const client = new ChatClient(
    { mode: 'session', credentials, baseUrl: service.url, ...options },
    {
      storage: tab,
      location: null,
      random: () => 0.5,
      monotonic: () => now,
      // Only sleeping moves the clock, so the limits of 30 s and 45 s do not expire while a request is answered and events are sent.
      sleep: (ms, signal) => {
        if (ms === 30_000 || (ms >= 40_000 && ms <= 45_000))
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error)),
          );
        slept.push(ms);
        now += ms;
        return Promise.resolve();
      },
      ...seams,
    },
  );
  const failures: ChatFailure[] = [];
  const events: ChatEvent[] = [];
  client.on((event) => {
    events.push(event);
    if (event.type === 'sessionFailed') failures.push(event.failure);
  });
  return { client, slept, failures, events, requests };
}

/** For a conversation that may have messages. */
export const RESUMED: Pick<SessionOptions, 'credentials'> = {
  credentials: () => Promise.resolve({ pass: 'p', threadId: 't-1', sessionId: 's-1', expiresIn: 900 }),
};

/** Resolves in a later turn of the event loop, when the condition holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

/** Numbers the events of a run from 1. */
export const run = (...events: object[]): string => events.map((event, index) => frame(index + 1, event)).join('');

export const STARTED = { type: 'RUN_STARTED', threadId: 't-1', runId: 'r-1' };
export const text = (delta: string) => ({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm-2', delta });
export const finished = (outcome: object, stored: object | null = null) => ({
  ...{ type: 'RUN_FINISHED', threadId: 't-1', runId: 'r-1', outcome },
  result: { run: { id: 'r-1', status: 'completed', error: null }, message: stored },
});

/** The parts of a message in one line each. */
export const partsOf = ({ state }: ChatClient, index: number): string[] =>
  state.messages[index]?.parts.map((part) => {
    switch (part.kind) {
      case 'text':
        return part.text;
      case 'tool':
        return `${part.tool.name}: ${part.tool.status}${part.tool.output === null ? '' : ` ${part.tool.output}`}`;
      case 'component':
        return `[${part.component.component}]`;
      default:
        return part satisfies never;
    }
  }) ?? [];

export const said = ({ state }: ChatClient) => state.messages.map(({ role, text, status }) => [role, text, status]);
export const WHOLE_REPLY = [
  ['user', 'Hi', 'completed'],
  ['assistant', 'Grüße, 🚲!', 'completed'],
];
