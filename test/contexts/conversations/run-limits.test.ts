import { describe, expect, it } from '@jest/globals';
import { approve, ASKS_ALWAYS, decline, NotingTool } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { AGENT_WIRES, anthropicWire, geminiWire } from '../../support/provider-wire.js';
import { answers, type ModelScript, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { endOf, type InterruptView, Talk, textOf } from '../../support/talk.js';
import { Chat, user } from '../chat/support.js';

/** What an answer of `callsTool` costs: one token each way. */
const CREDITS_A_CALL = 0.0012;

const service = useService({ extensions: scriptedRuns });

function callsTool(name: string, id: string, text?: string): ModelScript {
  return answers({ ...(text === undefined ? {} : { text }), calls: [{ id, name, input: { id } }] });
}

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

function reached(limit: string): object {
  return { error: 'unprocessable_entity', message: `The run has reached its limit of ${limit}.` };
}

/** A thread whose agent has a tool that needs no approval, unless the settings say otherwise. */
async function begin(agent: Readonly<Record<string, unknown>> = {}): Promise<{ talk: Talk; look: NotingTool }> {
  const talk = await Talk.start(service, agent);
  const look = new NotingTool('look');
  during(talk.threadId, { tools: [look.offered] });
  return { talk, look };
}

function only(interrupts: readonly InterruptView[]): InterruptView {
  const [interrupt, ...more] = interrupts;
  if (!interrupt || more.length > 0) throw new Error(`${interrupts.length} interrupts`);
  return interrupt;
}

describe.each(AGENT_WIRES)('a run on $provider with a limit of steps', (wire) => {
  const agent = { provider: { type: wire.provider, model: wire.model } };

  it('calls the model no more once it has used them: it fails, with its text and the results of its calls', async () => {
    const { talk, look } = await begin(agent);
    service.models.next(callsTool('look', 'a', 'One.'), callsTool('look', 'b', 'Two.'));

    const answer = await talk.run<object>('Look', { limits: { maxSteps: 2 } });

    expect([answer.status, answer.body]).toEqual([422, reached('2 steps (limits.maxSteps)')]);
    expect(service.models.requests).toHaveLength(2);
    expect(look.inputs).toEqual([{ id: 'a' }, { id: 'b' }]);
    const [, reply] = await talk.messages();
    expect(reply).toMatchObject({
      content: 'One.\n\nTwo.',
      status: 'incomplete',
      toolCalls: [
        { id: 'a', status: 'completed', output: 'look {"id":"a"}' },
        { id: 'b', status: 'completed', output: 'look {"id":"b"}' },
      ],
    });
    const { body: stored } = await talk.storedAs(reply?.runId ?? '');
    expect(stored.run).toMatchObject({ status: 'failed', error: { code: 'run_limit_reached' } });
    const trace = await talk.trace();
    expect(trace).toMatchObject({ status: 'failed', error: { code: 'run_limit_reached' } });
    expect(trace.steps.map(({ type }) => type)).toEqual(['model', 'tool', 'model', 'tool']);

    service.models.next(says('I had looked twice.'));
    expect((await talk.run('And?')).body).toMatchObject({ run: { status: 'completed' } });
    expect(wire.toolResults(lastBody()).map(({ output }) => output)).toEqual(['look {"id":"a"}', 'look {"id":"b"}']);
  });

  it('completes when its last step is the answer', async () => {
    const { talk } = await begin(agent);
    service.models.next(callsTool('look', 'a'), says('Seen.'));
    expect(await talk.run('Look', { limits: { maxSteps: 2 } })).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: 'Seen.', status: 'completed' } },
    });
  });
});

describe('a limit of a run', () => {
  it('ends a stream with its code, after the text so far', async () => {
    const { talk } = await begin();
    service.models.next(callsTool('look', 'a', 'Let me look.'));
    const events = await talk.streamed('Look', { limits: { maxSteps: 1 } });
    expect(endOf(events)).toMatchObject({
      type: 'RUN_ERROR',
      code: 'run_limit_reached',
      message: 'The run has reached its limit of 1 step (limits.maxSteps).',
    });
    expect(textOf(events)).toBe('Let me look.');
  });

  it.each([
    ['of the agent', 1, 5, "the agent's runLimits.maxSteps"],
    ['of the request', 5, 1, 'limits.maxSteps'],
  ])('that is lower holds: that %s', async (_whose, ofAgent, ofRequest, field) => {
    const { talk } = await begin({ runLimits: { maxSteps: ofAgent } });
    service.models.next(callsTool('look', 'a'));
    const { body } = await talk.run<object>('Look', { limits: { maxSteps: ofRequest } });
    expect(body).toEqual(reached(`1 step (${field})`));
  });

  it('of the agent holds for chat completions, waiting and streamed, and for AG-UI clients', async () => {
    const chat = await Chat.start(service, { runLimits: { maxSteps: 1 } });
    const message = "The run has reached its limit of 1 step (the agent's runLimits.maxSteps).";
    // The agent has no tool of this name, which costs a step too.
    service.models.always(callsTool('look', 'a', 'Let me look.'));
    const waited = await chat.ask<object>([user('Look')]);
    expect([waited.status, waited.body]).toEqual([422, { error: 'unprocessable_entity', message }]);
    const { chunks, end } = await chat.streamed([user('Look')]);
    const code = 'run_limit_reached';
    expect([chunks.at(-1), end]).toEqual([{ error: { message, type: 'invalid_request_error', code } }, '[DONE]']);
    const input = { threadId: 't', runId: 'r', messages: [{ id: 'm', role: 'user', content: 'Look' }] };
    const events = [];
    const body = { ...input, tools: [], context: [], state: {}, forwardedProps: {} };
    for await (const event of service.stream(`/v1/agents/${chat.agentId}/ag-ui`, { key: chat.key, body })) {
      events.push(event);
    }
    expect(endOf(events)).toMatchObject({ type: 'RUN_ERROR', code, message });
    expect(service.models.requests).toHaveLength(3);
  });

  it('of credits is reached by what the calls so far have cost', async () => {
    const { talk } = await begin();
    service.models.always(callsTool('look', 'a'));
    const exact = await talk.run<object>('Look', { limits: { maxCredits: CREDITS_A_CALL } });
    expect([exact.status, exact.body]).toEqual([422, reached(`${CREDITS_A_CALL} credits (limits.maxCredits)`)]);
    expect(service.models.requests).toHaveLength(1);
    await talk.run('Look', { limits: { maxCredits: CREDITS_A_CALL + 0.00001 } });
    expect(service.models.requests).toHaveLength(1 + 2);
  });

  it("of credits is never reached with the agent's own key", async () => {
    const { talk } = await begin({ provider: { type: 'anthropic', useOwnApiKey: true, apiKey: 'own' } });
    service.models.next(callsTool('look', 'a'), says('Seen.'));
    const { body } = await talk.run('Look', { limits: { maxCredits: 0.0001 } });
    expect(body.run).toMatchObject({ status: 'completed', usage: { credits: 0 } });
  });

  it('counts the call that a stop hook asks for', async () => {
    const { talk } = await begin();
    const beforeStop = (): Promise<{ decision: 'continue'; reason: string }> =>
      Promise.resolve({ decision: 'continue', reason: 'Say more.' });
    during(talk.threadId, { hooks: { beforeStop } });
    service.models.next(says('Half.'));
    expect((await talk.run('Hi', { limits: { maxSteps: 1 } })).status).toBe(422);
    expect((await talk.messages()).at(-1)).toMatchObject({ content: 'Half.', status: 'incomplete' });
  });

  it('counts a call of the model that ends in an unreadable call of a tool', async () => {
    const { talk } = await begin({ provider: { type: 'gemini', model: geminiWire.model } });
    service.models.next((exchange) => exchange.sendAll(geminiWire.unreadableToolCall));
    const { body } = await talk.run<object>('Look', { limits: { maxSteps: 1 } });
    expect(body).toEqual(reached('1 step (limits.maxSteps)'));
  });

  it('does not count a request that the provider refuses and the run repeats with less', async () => {
    const { talk } = await begin();
    service.models.next(says('Hello.'));
    await talk.run('Hi');
    const tooLong: ModelScript = (exchange, { contextTooLong }) => {
      exchange.refuse(contextTooLong.status, contextTooLong.body);
    };
    service.models.next(tooLong, says('Short.'));
    expect((await talk.run('And?', { limits: { maxSteps: 1 } })).body.message?.content).toBe('Short.');
  });

  it.each([
    ['maxSteps', { maxSteps: 0 }],
    ['maxSteps', { maxSteps: 1_001 }],
    ['maxSteps', { maxSteps: 2.5 }],
    ['maxSteps', { maxSteps: null }],
    ['maxCredits', { maxCredits: 0 }],
    ['maxCredits', { maxCredits: '1' }],
    ['maxTokens', { maxTokens: 1 }],
    ['limits', 5],
    ['limits', null],
  ])('that is wrong is refused by both routes, naming %s (%j)', async (field, limits) => {
    const { talk } = await begin();
    for (const route of ['runs', 'runs/stream']) {
      const body = { message: { role: 'user', content: 'Hi' }, limits };
      const answer = await service.http('POST', `${talk.path}/${route}`, { key: talk.key, body });
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(field) },
      });
    }
    expect(await talk.messages()).toEqual([]);
  });
});

describe('runs that answers join to one', () => {
  it('count their steps together: the approved call is made, and then the model is not called', async () => {
    const { talk, look } = await begin(ASKS_ALWAYS);
    service.models.next(callsTool('look', 'a', 'One.'), callsTool('look', 'b', 'Two.'));
    const first = await talk.run('Look', { limits: { maxSteps: 2 } });
    const second = await talk.resume(approve(only(first.body.interrupts)));
    expect(second.body.run.status).toBe('requires_action');
    const third = await talk.resume<object>(approve(only(second.body.interrupts)));

    expect([third.status, third.body]).toEqual([422, reached('2 steps (limits.maxSteps)')]);
    expect(service.models.requests).toHaveLength(2);
    expect(look.inputs).toEqual([{ id: 'a' }, { id: 'b' }]);
    expect((await talk.messages()).at(-1)).toMatchObject({
      status: 'incomplete',
      toolCalls: [{ id: 'b', status: 'completed', output: 'look {"id":"b"}' }],
    });

    service.models.next(says('Both seen.'));
    expect((await talk.run('And?')).body.run.status).toBe('completed');
    expect(anthropicWire.toolResults(lastBody()).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('count their credits together, those of a process that has ended too', async () => {
    const { talk, look } = await begin(ASKS_ALWAYS);
    service.models.next(callsTool('look', 'a'), callsTool('look', 'b'));
    const first = await talk.run('Look', { limits: { maxCredits: 2 * CREDITS_A_CALL } });
    const restarted = await service.replica();
    try {
      during(talk.threadId, { tools: [look.offered] });
      const later = talk.on(restarted);
      const second = await later.resume(approve(only(first.body.interrupts)));
      expect(second.body.run).toMatchObject({ status: 'requires_action', usage: { credits: CREDITS_A_CALL } });
      const third = await later.resume<object>(decline(only(second.body.interrupts)));
      expect([third.status, third.body]).toEqual([422, reached(`${2 * CREDITS_A_CALL} credits (limits.maxCredits)`)]);
    } finally {
      await restarted.close();
    }
    expect(service.models.requests).toHaveLength(2);
  });

  it('keep the first limits: an answer lowers them, and cannot raise them', async () => {
    const { talk } = await begin(ASKS_ALWAYS);
    service.models.always(callsTool('look', 'a'));
    const first = await talk.run('Look', { limits: { maxSteps: 3 } });
    const raised = { resume: [approve(only(first.body.interrupts))], limits: { maxSteps: 9, maxCredits: 100 } };
    const second = await talk.post(raised);
    expect(second.body.run.status).toBe('requires_action');
    const lowered = { resume: [approve(only(second.body.interrupts))], limits: { maxSteps: 2 } };
    const third = await talk.post<object>(lowered);
    expect([third.status, third.body]).toEqual([422, reached('2 steps (limits.maxSteps)')]);

    const other = await talk.another();
    during(other.threadId, { tools: [new NotingTool('look').offered] });
    const asked = await other.run('Look', { limits: { maxSteps: 1 } });
    const answer = await other.post<object>({
      resume: [approve(only(asked.body.interrupts))],
      limits: { maxSteps: 9 },
    });
    expect(answer.body).toEqual(reached('1 step (limits.maxSteps)'));
  });

  it("follow the agent's present limits when it was changed while they waited", async () => {
    const { talk } = await begin({ ...ASKS_ALWAYS, runLimits: { maxSteps: 1 } });
    service.models.next(callsTool('look', 'a'), says('Seen.'));
    const first = await talk.run('Look');
    const changed = await service.http('PATCH', `/v1/agents/${talk.agentId}`, {
      key: talk.key,
      body: { runLimits: { maxSteps: 2 } },
    });
    expect(changed.status).toBe(200);
    const second = await talk.resume(approve(only(first.body.interrupts)));
    expect(second.body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Seen.' } });
  });

  it('end with a message instead of an answer: its run counts from the start', async () => {
    const { talk } = await begin({ ...ASKS_ALWAYS, runLimits: { maxSteps: 1 } });
    service.models.next(callsTool('look', 'a'), says('Fine.'));
    await talk.run('Look');
    expect((await talk.run('Never mind')).body.message?.content).toBe('Fine.');
  });
});
