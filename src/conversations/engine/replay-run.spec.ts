import { describe, expect, it } from '@jest/globals';
import type { Message } from '../domain/message.js';
import type { Run } from '../domain/run.js';
import type { StoredRun } from '../persistence/run-reader.repository.js';
import {
  componentShown,
  reasoningContent,
  reasoningEnd,
  reasoningStart,
  type RunEvent,
  runStarted,
  textContent,
  textEnd,
  textStart,
  toolCallArgs,
  toolCallEnd,
  toolCallResult,
  toolCallStart,
} from './agui-events.js';
import { replayRun } from './replay-run.js';
import { ShownEvents } from './shown-events.js';

const at = new Date('2026-01-01T00:00:00Z');
const RUN: Run = {
  ...{ id: 'run', organizationId: 'org', threadId: 'thread', agentId: 'agent', status: 'completed' },
  ...{ createdAt: at, completedAt: at, error: null, approvals: [] },
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2, cachedInputTokens: null, credits: 0 },
};
const CARD = { id: 'card', component: 'confirm', props: {}, fallback: 'Sure?', place: { order: 3, offset: 9 } };
const LOOK = {
  id: 'look',
  name: 'look',
  input: { for: 'it', in: 'here' },
  output: 'found',
  status: 'completed',
} as const;
const PAY = { id: 'pay', name: 'pay', input: {}, output: 'paid', status: 'completed' } as const;
const MESSAGE: Message = {
  ...{ id: 'reply', threadId: 'thread', runId: 'run', role: 'assistant', content: 'I look.\n\nIt is.\n\nDone.' },
  ...{ status: 'completed', blocked: false, reaction: null, transcript: [], createdAt: at },
  toolCalls: [
    { ...LOOK, place: { order: 1, offset: 7 } },
    { ...PAY, place: { order: 2, offset: 7 } },
  ],
  components: [{ ...CARD, place: { order: 3, offset: 15 } }],
};

function stored(changes: { run?: Partial<Run>; message?: Message | null } = {}): StoredRun {
  const { run, message = MESSAGE } = changes;
  return {
    ...{ run: { ...RUN, ...run }, message, ownerId: 'owner', facts: { ownKey: false }, decisions: null },
    model: { provider: 'anthropic', model: 'any', useOwnApiKey: false },
    ...{ unanswered: false, threadExists: true },
  };
}

/** What the process of the run has sent of it, without the end. */
const SENT: readonly RunEvent[] = [
  runStarted('thread', 'run'),
  ...reasoningStart('thought'),
  reasoningContent('thought', 'Hm'),
  ...reasoningEnd('thought'),
  textStart('reply'),
  textContent('reply', 'I '),
  textContent('reply', 'look.'),
  textEnd('reply'),
  toolCallStart('look', 'look', 'reply'),
  toolCallArgs('look', '{"for":"it"'),
  toolCallArgs('look', ',"in":"here"}'),
  toolCallEnd('look'),
  toolCallStart('pay', 'pay', 'reply'),
  toolCallArgs('pay', '{}'),
  toolCallEnd('pay'),
  toolCallResult('r1', LOOK),
  toolCallResult('r2', PAY),
  textStart('reply'),
  textContent('reply', '\n\nIt is.'),
  textEnd('reply'),
  componentShown(CARD),
  textStart('reply'),
  textContent('reply', '\n\nDo'),
  textContent('reply', 'ne.'),
  textEnd('reply'),
];

function rest(sent: readonly RunEvent[], of = stored()): RunEvent[] {
  const shown = new ShownEvents();
  for (const event of sent) shown.add(event);
  return [...replayRun(of, true, shown)];
}

/** All deltas of a kind of event, joined. */
function joined(events: readonly RunEvent[], type: string, id?: string): string {
  const own = events as readonly { type: string; delta?: string; toolCallId?: string }[];
  return own.map((event) => (event.type === type && event.toolCallId === id ? event.delta : '')).join('');
}

const shape = (events: readonly RunEvent[]): string[] =>
  events.map(({ type }) => type as string).filter((type) => !/CONTENT|ARGS|REASONING/.test(type));

/** AG-UI's rules for what is open. */
function expectNested(events: readonly RunEvent[]): void {
  const open = new Set<string>();
  for (const event of events as readonly { type: string; messageId?: string; toolCallId?: string }[]) {
    const [, kind = '', end = ''] =
      /^(TEXT_MESSAGE|TOOL_CALL|REASONING|REASONING_MESSAGE)_(START|END|CONTENT|ARGS)$/.exec(event.type) ?? [];
    const what = `${kind} ${event.toolCallId ?? event.messageId ?? ''}`;
    if (end === 'START') expect(open.has(what)).toBe(false);
    else if (end !== '') expect(open.has(what)).toBe(true);
    if (end === 'START') open.add(what);
    if (end === 'END') open.delete(what);
    if (event.type === 'RUN_FINISHED') expect([...open]).toEqual([]);
  }
}

describe('the rest of a run for a reader', () => {
  it.each(SENT.map((_event, count) => count).concat(SENT.length))(
    'that has been sent %i events: nothing is missing, nothing twice',
    (count) => {
      const sent = SENT.slice(0, count);
      const all = [...sent, ...rest(sent)];
      expect(joined(all, 'TEXT_MESSAGE_CONTENT')).toBe(MESSAGE.content);
      for (const { id, input } of [LOOK, PAY]) {
        expect(JSON.parse(joined(all, 'TOOL_CALL_ARGS', id))).toEqual(input);
      }
      const once = (type: string): number => all.filter((event) => (event.type as string) === type).length;
      expect([once('TOOL_CALL_START'), once('TOOL_CALL_RESULT'), once('CUSTOM'), once('RUN_FINISHED')]).toEqual([
        2, 2, 1, 1,
      ]);
      expect(all.at(-1)).toMatchObject({ type: 'RUN_FINISHED', result: { message: { id: 'reply' } } });
      expectNested(all);
    },
  );

  it('has text, calls and components in the order in which they were shown', () => {
    expect(shape(rest([]))).toEqual([
      ...[
        'RUN_STARTED',
        'TEXT_MESSAGE_START',
        'TEXT_MESSAGE_END',
        'TOOL_CALL_START',
        'TOOL_CALL_END',
        'TOOL_CALL_RESULT',
      ],
      ...['TOOL_CALL_START', 'TOOL_CALL_END', 'TOOL_CALL_RESULT', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_END', 'CUSTOM'],
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_END', 'RUN_FINISHED'],
    ]);
  });

  it('has no text where less is stored than was sent, as of a process that died', () => {
    const error = { code: 'internal', message: 'It stopped.' } as const;
    const message = { ...MESSAGE, content: 'I look.', toolCalls: [], components: [] };
    const events = rest(SENT.slice(0, -2), stored({ run: { status: 'failed', error }, message }));
    expect(events.map(({ type }) => type)).toEqual(['TEXT_MESSAGE_END', 'RUN_ERROR']);
  });

  it('closes what is open of a run that was deleted', () => {
    const events = rest(SENT.slice(0, 11), stored({ run: { status: 'cancelled' }, message: null }));
    expect(events).toMatchObject([{ type: 'TOOL_CALL_END' }, { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } }]);
  });

  it('closes a call whose arguments are stored otherwise than the model wrote them, and adds nothing to them', () => {
    const written = [...SENT.slice(0, 11), toolCallArgs('look', '{ "in"')];
    expect(joined(rest(written), 'TOOL_CALL_ARGS', 'look')).toBe('');
  });
});
