import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { requestOf, callRuntime, textOf, type CallOutcome } from '../../../../test/support/model-calls.js';
import { openaiWire } from '../../../../test/support/provider-wire.js';
import { until } from '../../../../test/support/until.js';
import type { ModelMessage, ToolDefinition } from '../../domain/model-runtime.js';
import type { ModelRequest } from '../index.js';
import { SandboxRuntime } from './sandbox.runtime.js';

const LOOK_UP: ToolDefinition = { name: 'look_up', description: 'Looks up.', inputSchema: { type: 'object' } };

/** Runs a call to its end, for any number of words. */
async function ask(changes: Partial<ModelRequest>): Promise<CallOutcome> {
  const clock = new ManualClock();
  const state = { over: false };
  const outcome = callRuntime(
    new SandboxRuntime(clock),
    requestOf(openaiWire, { apiKey: undefined, ...changes }),
  ).finally(() => {
    state.over = true;
  });
  const speakOn = async (): Promise<boolean> => {
    await clock.advance(15);
    return state.over;
  };
  await until(speakOn, 'the reply is over', { everyMs: 0 });
  return outcome;
}

function user(text: string): ModelMessage {
  return { role: 'user', text };
}

describe('the sandbox model', () => {
  it('labels its reply, repeats the message and describes the request', async () => {
    const answer = { role: 'assistant', text: 'two', toolCalls: [] } as const;
    const messages = [user('one'), answer, user('Order 66, please')];
    const outcome = await ask({ system: 'Be brief.', messages });
    const text = textOf(outcome.events);
    expect(text).toMatch(/^\[sandbox model\] /);
    expect(text).toContain('"Order 66, please"');
    expect(text).toContain('3 messages');
    expect(text).toContain("the agent's system prompt has 9 characters");
    expect(outcome.events.at(-1)).toMatchObject({ type: 'stopped', reason: 'end' });
  });

  it('names the attached files, and does not claim to have read them', async () => {
    const attachments = [
      { kind: 'image', name: 'dot.png', mediaType: 'image/png', data: 'AAAA' },
      { kind: 'text', name: 'notes.md', mediaType: 'text/markdown', text: 'ü' },
    ] as const;
    const outcome = await ask({ messages: [{ role: 'user', text: 'Look', attachments }] });
    expect(textOf(outcome.events)).toContain(
      'It came with 2 files: "dot.png" (image/png, 3 bytes), "notes.md" (text/markdown, 2 bytes); a real model would read',
    );
  });

  it('answers with a JSON array of labelled strings if the system prompt asks for one', async () => {
    const outcome = await ask({ system: 'Answer with a JSON array of exactly 3 strings.', messages: [user('hello')] });
    const list = JSON.parse(textOf(outcome.events)) as unknown[];
    expect(list).toHaveLength(3);
    for (const text of list) expect(text).toContain('[sandbox model]');
  });

  it('gives the same reply to the same conversation, and another to another one', async () => {
    const replyTo = async (text: string): Promise<string> => textOf((await ask({ messages: [user(text)] })).events);
    const replies = await Promise.all(['hello', 'hello', 'what is it?', 'thank you', 'order'].map(replyTo));
    expect(replies[0]).toBe(replies[1]);
    expect(new Set(replies.map((reply) => reply.slice(0, 30))).size).toBe(4);
  });

  it('streams word by word, on the clock', async () => {
    const clock = new ManualClock();
    const events = new SandboxRuntime(clock).stream(requestOf(openaiWire), new AbortController().signal);
    await events.next();
    const first = events.next();
    await clock.untilPending();
    await clock.advance(15);
    expect(await first).toMatchObject({ value: { type: 'text', text: '[sandbox ' } });
    await events.return(undefined);
  });

  it('estimates the tokens', async () => {
    const outcome = await ask({ system: 'x'.repeat(40), messages: [user('y'.repeat(8))] });
    const outputTokens = Math.ceil(textOf(outcome.events).length / 4);
    expect(outcome.events.at(0)).toMatchObject({ type: 'usage', usage: { inputTokens: 12, outputTokens: null } });
    expect(outcome.events.at(-1)).toMatchObject({ usage: { inputTokens: 12, outputTokens } });
  });

  it.each([
    ['use look_up', {}],
    ['please use look_up {"city": "Paris"}', { city: 'Paris' }],
    ['use look_up {not json}', {}],
  ])('asked to "%s" it calls the tool', async (text, input) => {
    const outcome = await ask({ messages: [user(text)], tools: [LOOK_UP] });
    expect(outcome.events.find((event) => event.type === 'tool_call')?.call).toMatchObject({ name: 'look_up', input });
    expect(outcome.events.at(-1)).toMatchObject({ reason: 'tool_calls' });
  });

  it('calls no tool that the request does not have', async () => {
    const outcome = await ask({ messages: [user('use rm_rf')], tools: [LOOK_UP] });
    expect(outcome.events.map((event) => event.type)).not.toContain('tool_call');
  });

  it('quotes the results of its calls', async () => {
    const call = { id: 'sandbox_1', name: 'look_up', input: {} };
    const messages: ModelMessage[] = [
      user('use look_up'),
      { role: 'assistant', text: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'sandbox_1', toolName: 'look_up', output: 'France', isError: false },
    ];
    const outcome = await ask({ messages, tools: [LOOK_UP] });
    expect(textOf(outcome.events)).toContain('The tool look_up answered: "France"');
    expect(outcome.events.at(-1)).toMatchObject({ reason: 'end' });
  });

  it('stops at once when the signal aborts', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const outcome = callRuntime(new SandboxRuntime(clock), requestOf(openaiWire), controller.signal);
    await clock.untilPending();
    const reason = new Error('the user left');
    controller.abort(reason);
    expect((await outcome).thrown).toBe(reason);
    expect(clock.pending()).toBe(0);
  });
});
