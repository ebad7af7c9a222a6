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

  it('leaves out a reply of which nothing was kept', () => {
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

  it('tells the model that the outcome of an interrupted tool call is unknown: providers refuse a call without a result', () => {
    const transcript = [
      { role: 'assistant', text: '', toolCalls: [{ id: 'c1', name: 'pay', input: {} }, { id: 'c2', name: 'log', input: {} }] },
      { role: 'tool', toolCallId: 'c2', toolName: 'log', output: 'ok', isError: false },
    ] as const;

    const replayed = toModelMessages([stored({ status: 'incomplete', transcript })]);

    expect(replayed).toHaveLength(3);
    expect(replayed).toContainEqual(
      expect.objectContaining({ role: 'tool', toolCallId: 'c1', isError: true, output: expect.stringContaining('unknown') }),
    );
  });
});
