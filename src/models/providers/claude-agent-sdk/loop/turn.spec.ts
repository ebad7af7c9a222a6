import Anthropic from '@anthropic-ai/sdk';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../../../test/support/manual-clock.js';
import { until } from '../../../../../test/support/until.js';
import { AgentLoopFailure } from '../../../domain/agent-loop.js';
import { STEP_MS } from './limits.js';
import { MessagesEndpoint, promptOf } from './messages-endpoint.js';
import { Turn } from './turn.js';

let clock: ManualClock;
let endpoint: MessagesEndpoint;
let turn: Turn;
let process: Process;

/** Plays a process: sends requests to the endpoint, and calls the tool. */
class Process {
  /** Number of requests that have reached the turn. */
  asked = 0;

  private constructor(private readonly client: Anthropic) {}

  static async start(): Promise<Process> {
    const key = endpoint.register((_, call) => {
      started.asked += 1;
      turn.onModelCall(call);
    });
    const started = new Process(
      new Anthropic({ baseURL: await endpoint.open(), defaultHeaders: { 'x-api-key': key }, maxRetries: 0 }),
    );
    return started;
  }

  /** @returns the ids of the calls in the response; none if it ends the turn */
  async ask(): Promise<string[]> {
    const messages = [{ role: 'user' as const, content: promptOf(turn.token) }];
    const { content, stop_reason } = await this.client.messages
      .stream({ model: 'any', max_tokens: 1, messages })
      .finalMessage();
    const ids = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    if (stop_reason !== (ids.length > 0 ? 'tool_use' : 'end_turn'))
      throw new Error(`stopped as ${String(stop_reason)}`);
    return ids;
  }

  /** Sends a request without reading the response. */
  async leave(): Promise<void> {
    const { asked } = this;
    this.ask().catch(() => undefined);
    await until(() => this.asked > asked, 'the process has asked');
  }
}

beforeEach(async () => {
  clock = new ManualClock();
  endpoint = new MessagesEndpoint(clock);
  turn = new Turn(clock);
  process = await Process.start();
});
afterEach(() => endpoint.close());

const MADE = { content: [{ type: 'text', text: 'Made.' }] };
const UNKNOWN = { content: [{ type: 'text', text: 'There is no such call.' }], isError: true };

async function stateOf(promise: Promise<unknown>): Promise<string> {
  const later = new Promise<string>((resolve) => setImmediate(() => setImmediate(() => resolve('pending'))));
  return Promise.race([
    promise.then(
      () => 'resolved',
      () => 'rejected',
    ),
    later,
  ]);
}

/** The process has a response with calls, and has made none of them. */
async function withCalls(count: number): Promise<{ readonly ids: readonly string[]; readonly tools: Promise<void> }> {
  const answer = process.ask();
  await turn.modelCall();
  const tools = turn.toolCalls(count);
  tools.catch(() => undefined);
  return { ids: await answer, tools };
}

describe('the steps of a turn', () => {
  it('follow the requests of the process: the model, its calls, the model, the end', async () => {
    const model = turn.modelCall();
    expect(await stateOf(model)).toBe('pending');
    const answer = process.ask();
    await model;
    const tools = turn.toolCalls(2);
    const ids = await answer;
    expect(new Set(ids).size).toBe(2);
    expect(await stateOf(tools)).toBe('pending');
    const results = Promise.all(ids.map((id) => turn.onToolCall(id)));
    await tools;
    expect(await stateOf(results)).toBe('pending');
    const next = turn.modelCall();
    expect(await results).toEqual([MADE, MADE]);
    expect(await stateOf(next)).toBe('pending');
    const end = process.ask();
    await next;
    turn.finish();
    expect(await end).toEqual([]);
  });

  it('resolve at once if the process has already asked', async () => {
    await process.leave();
    expect(await stateOf(turn.modelCall())).toBe('resolved');
    // An engine that repeats the model call asks again.
    expect(await stateOf(turn.modelCall())).toBe('resolved');
  });

  it('have new ids in each response', async () => {
    const first = await withCalls(1);
    void turn.onToolCall(first.ids[0]);
    const answer = process.ask();
    await turn.modelCall();
    const tools = turn.toolCalls(1);
    const ids = await answer;
    expect(ids).not.toEqual(first.ids);
    expect(await turn.onToolCall(first.ids[0])).toEqual(UNKNOWN);
    expect(await stateOf(tools)).toBe('pending');
    void turn.onToolCall(ids[0]);
    await tools;
  });

  it('count late calls of a response as made, and not as the next step', async () => {
    const { ids, tools } = await withCalls(3);
    const first = turn.onToolCall(ids[0]);
    await tools;
    const model = turn.modelCall();
    expect(await first).toEqual(MADE);
    expect(await turn.onToolCall(ids[1])).toEqual(MADE);
    expect(await turn.onToolCall(ids[2])).toEqual(MADE);
    expect(await stateOf(model)).toBe('pending');
    await process.leave();
    await model;
  });
});

describe('a process that goes wrong', () => {
  it('by asking for the model before it has made a call of the response fails the turn', async () => {
    const { tools } = await withCalls(1);
    await process.leave();
    await expect(tools).rejects.toThrow('before it had made the tool calls of the response');
    await expect(turn.modelCall()).rejects.toBeInstanceOf(AgentLoopFailure);
  });

  it('by asking for the model twice fails the turn, even while no step waits', async () => {
    await process.leave();
    await turn.modelCall();
    await process.leave();
    await expect(turn.toolCalls(1)).rejects.toBeInstanceOf(AgentLoopFailure);
  });

  it.each(['toolu_unknown', undefined])(
    'by calling the tool as %s gets an error, and the step still waits',
    async (id) => {
      const { tools } = await withCalls(1);
      expect(await turn.onToolCall(id)).toEqual(UNKNOWN);
      expect(await stateOf(tools)).toBe('pending');
    },
  );

  it('by asking for nothing fails each step after STEP_MS, and not before', async () => {
    const model = turn.modelCall();
    model.catch(() => undefined);
    await clock.advance(STEP_MS - 1);
    expect(await stateOf(model)).toBe('pending');
    await clock.advance(1);
    await expect(model).rejects.toThrow('did not continue its run in time');
    await expect(turn.modelCall()).rejects.toThrow('did not continue its run in time');
  });

  it('by calling no tool fails the step after STEP_MS, counted from the start of the step', async () => {
    await process.leave();
    await turn.modelCall();
    await clock.advance(10 * STEP_MS);
    const tools = turn.toolCalls(1);
    tools.catch(() => undefined);
    await clock.advance(STEP_MS - 1);
    expect(await stateOf(tools)).toBe('pending');
    await clock.advance(1);
    await expect(tools).rejects.toBeInstanceOf(AgentLoopFailure);
  });

  it('fails with the first failure', async () => {
    turn.fail(new AgentLoopFailure('first'));
    turn.fail(new AgentLoopFailure('second'));
    await expect(turn.modelCall()).rejects.toThrow('first');
  });
});

describe('a step that is done', () => {
  it('leaves no timer', async () => {
    const before = clock.pending();
    const { ids, tools } = await withCalls(1);
    void turn.onToolCall(ids[0]);
    await tools;
    await until(() => clock.pending() === before, 'the timers of the step and of the request are cancelled');
  });
});

describe('after its end', () => {
  it('a turn answers the open request, later requests and all calls of the tool', async () => {
    const open = process.ask();
    await turn.modelCall();
    turn.finish();
    expect(await open).toEqual([]);
    expect(await process.ask()).toEqual([]);
    expect(await turn.onToolCall('toolu_any')).toEqual(UNKNOWN);
  });

  it('a turn resolves the waiting calls, and accepts no more', async () => {
    const { ids } = await withCalls(2);
    const waiting = turn.onToolCall(ids[0]);
    turn.finish();
    expect(await waiting).toEqual(MADE);
    expect(await turn.onToolCall(ids[1])).toEqual(UNKNOWN);
    expect(await process.ask()).toEqual([]);
  });
});
