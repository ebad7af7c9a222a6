import { describe, expect, it } from '@jest/globals';
import { type Message, toModelMessages } from './message.js';

function stored(changes: Partial<Message>): Message {
  return {
    id: 'm',
    threadId: 't',
    runId: 'r',
    role: 'assistant',
    content: '',
    status: 'completed',
    blocked: false,
    reaction: null,
    toolCalls: [],
    components: [],
    transcript: [],
    createdAt: new Date(0),
    ...changes,
  };
}

describe('the conversation as a model reads it', () => {
  it('keeps the order and both sides', () => {
    const messages = [stored({ role: 'user', content: 'Hi' }), stored({ content: 'Hello' })];

    expect(toModelMessages(messages)).toEqual([
      { role: 'user', text: 'Hi' },
      { role: 'assistant', text: 'Hello', toolCalls: [] },
    ]);
  });

  it('leaves out a reply without text and calls', () => {
    expect(toModelMessages([stored({ status: 'failed' })])).toEqual([]);
  });

  it('replays a reply that used tools step by step', () => {
    const transcript = [
      { role: 'assistant', text: '', toolCalls: [{ id: 'c1', name: 'look_up', input: {} }] },
      { role: 'tool', toolCallId: 'c1', toolName: 'look_up', output: 'found', isError: false },
      { role: 'assistant', text: 'It is there', toolCalls: [] },
    ] as const;

    expect(toModelMessages([stored({ content: 'It is there', transcript })])).toEqual(transcript);
  });

  describe('of a run that asked for approval and the run that resumed it', () => {
    const call = (id: string) => ({ id, name: 'pay', input: {} });
    const result = (id: string, output: string) =>
      ({ role: 'tool', toolCallId: id, toolName: 'pay', output, isError: false }) as const;
    const state = { provider: 'anthropic', data: 'sealed' } as const;
    const asks = { role: 'assistant', text: '', toolCalls: [call('c1'), call('c2')], state } as const;
    const before = stored({ role: 'user', content: 'Pay', runId: 'r1' });
    const asking = stored({
      runId: 'r1',
      transcript: [asks, result('c2', 'two')],
      toolCalls: [
        { ...call('c1'), status: 'approved' },
        { ...call('c2'), status: 'completed', output: 'two' },
      ],
    });
    const ids = (entries: ReturnType<typeof toModelMessages>) =>
      entries.flatMap((entry) => (entry.role === 'tool' ? [entry.toolCallId] : []));

    it('has each result behind its call, in the order of the calls, though they are in two messages', () => {
      const resuming = stored({
        runId: 'r2',
        transcript: [result('c1', 'one'), { role: 'assistant', text: 'Done', toolCalls: [] }],
      });

      const read = toModelMessages([before, asking, resuming]);

      expect(read.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant']);
      expect(ids(read)).toEqual(['c1', 'c2']);
      expect(JSON.stringify(read)).not.toContain('sealed');
    });

    it('is left open for the run that resumes it, with the provider state since the last message of the user', () => {
      const earlier = stored({ runId: 'r0', transcript: [{ role: 'assistant', text: 'Hi', toolCalls: [], state }] });

      const read = toModelMessages([earlier, before, asking], 'open');

      expect(ids(read)).toEqual(['c2']);
      expect(read.map((entry) => 'state' in entry)).toEqual([false, false, true, false]);
    });

    it('gives a declined call its stored output, and a call without a result an unknown outcome', () => {
      const denied = { ...asking, toolCalls: [{ ...call('c1'), status: 'denied' as const, output: 'No.' }] };

      expect(toModelMessages([before, denied])).toContainEqual(
        expect.objectContaining({ toolCallId: 'c1', output: 'No.', isError: true }),
      );
      expect(toModelMessages([before, asking])).toContainEqual(
        expect.objectContaining({ toolCallId: 'c1', output: expect.stringContaining('unknown'), isError: true }),
      );
    });

    it('leaves out a result without its call', () => {
      expect(ids(toModelMessages([stored({ transcript: [result('c1', 'one')] })]))).toEqual([]);
    });
  });

  it('gives an interrupted call a result that says that its outcome is unknown, since providers refuse a call without a result', () => {
    const transcript = [
      {
        role: 'assistant',
        text: '',
        toolCalls: [
          { id: 'c1', name: 'pay', input: {} },
          { id: 'c2', name: 'log', input: {} },
        ],
      },
      { role: 'tool', toolCallId: 'c2', toolName: 'log', output: 'ok', isError: false },
    ] as const;

    const replayed = toModelMessages([stored({ status: 'incomplete', transcript })]);

    expect(replayed).toHaveLength(3);
    expect(replayed).toContainEqual(
      expect.objectContaining({
        role: 'tool',
        toolCallId: 'c1',
        isError: true,
        output: expect.stringContaining('unknown'),
      }),
    );
  });
});
