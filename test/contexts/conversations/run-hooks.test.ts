import { describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, Talk, textOf, typesOf } from '../../support/talk.js';
import { sentSystem } from '../../support/sent-system.js';

const service = useService({ extensions: scriptedRuns });

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

const echo = tool('echo', (input) => output(JSON.stringify(input)));

describe('a hook before the prompt', () => {
  it.each([
    ['its reason', 'Not during the holidays.', 'Not during the holidays.'],
    ['a plain sentence where there is none', null, expect.stringMatching(/^\S.*\.$/)],
  ])('that blocks it ends the run as completed with %s; the model is not called', async (_what, reason, shown) => {
    const talk = await Talk.start(service);
    during(talk.threadId, { hooks: { beforePrompt: () => Promise.resolve({ decision: 'block', reason }) } });

    const waited = await talk.run('Let me in');
    const events = await talk.streamed('Let me in');

    expect(waited).toMatchObject({
      status: 200,
      body: {
        run: { status: 'completed', error: null },
        message: { content: shown, blocked: true, status: 'completed' },
      },
    });
    expect(typesOf(events)).toEqual([
      ...['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'RUN_FINISHED'],
    ]);
    expect(textOf(events)).toEqual(shown);
    expect(endOf(events)).toMatchObject({ outcome: { type: 'success' }, result: { message: { blocked: true } } });
    expect((await talk.messages())[1]).toMatchObject({ content: shown, blocked: true });
    expect((await talk.trace()).steps).toMatchObject([{ type: 'hook', name: 'UserPromptSubmit' }]);
    expect(service.models.requests).toEqual([]);
  });

  it('that blocked a prompt keeps it from the model in later runs too', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, {
      hooks: { beforePrompt: () => Promise.resolve({ decision: 'block', reason: 'blocked-reason' }) },
    });
    await talk.run('blocked-prompt');
    during(talk.threadId, {});
    service.models.next(says('Hello'));
    expect(await talk.run('Hi')).toMatchObject({ status: 200 });
    expect(lastBody()['messages']).toEqual([{ role: 'user', content: 'Hi' }]);
  });

  it('adds context that the model reads with the message; the shown message is unchanged', async () => {
    const talk = await Talk.start(service);
    const beforePrompt = () =>
      Promise.resolve({ decision: 'continue' as const, additionalContext: ['It is Monday.', 'It rains.'] });
    during(talk.threadId, { hooks: { beforePrompt } });
    service.models.next(says('Hello'));
    await talk.run('Hi');
    expect(lastBody()['messages']).toEqual([{ role: 'user', content: 'Hi\n\nIt is Monday.\n\nIt rains.' }]);
    expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Hello']);
  });

  it.each(['this process, which has cached the thread', 'another process, which reads it'])(
    'adds context that later runs of %s give to the model again',
    async (where) => {
      const talk = await Talk.start(service);
      const beforePrompt = () =>
        Promise.resolve({ decision: 'continue' as const, additionalContext: ['It is Monday.'] });
      during(talk.threadId, { hooks: { beforePrompt } });
      service.models.next(says('Hello'));
      await talk.run('Hi');
      during(talk.threadId, {});
      service.models.next(says('Bye'));
      const other = where.startsWith('another') ? await service.replica() : undefined;
      try {
        await (other ? talk.on(other) : talk).run('And now?');
      } finally {
        await other?.close();
      }
      expect(lastBody()['messages']).toMatchObject([
        { role: 'user', content: 'Hi\n\nIt is Monday.' },
        { role: 'assistant' },
        { role: 'user', content: 'And now?' },
      ]);
    },
  );
});

describe('a hook around a tool call', () => {
  it('that denies it: the tool does not run, the model reads the reason', async () => {
    const talk = await Talk.start(service);
    let ran = false;
    during(talk.threadId, {
      tools: [
        tool('echo', () => {
          ran = true;
          return output('x');
        }),
      ],
      hooks: { beforeToolCall: () => Promise.resolve({ decision: 'deny', reason: 'Ask the boss first.' }) },
    });
    service.models.next(calls('echo'), says('I may not.'));
    expect(await talk.run('Go')).toMatchObject({
      body: { message: { content: 'I may not.', toolCalls: [{ status: 'denied' }] } },
    });
    expect(ran).toBe(false);
    expect(anthropicWire.toolResults(lastBody())).toMatchObject([{ output: 'Ask the boss first.', isError: true }]);
    expect((await talk.trace()).steps).toMatchObject([
      { type: 'model' },
      { type: 'hook', name: 'PreToolUse' },
      { type: 'model' },
    ]);
  });

  it('that changes the input: the tool runs with the changed one', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, {
      tools: [echo],
      hooks: { beforeToolCall: () => Promise.resolve({ decision: 'allow', input: { safe: true } }) },
    });
    service.models.next(calls('echo', { safe: false }), says('Done'));
    const { body } = await talk.run('Go');
    expect(body.message?.toolCalls).toMatchObject([{ input: { safe: true }, output: '{"safe":true}' }]);
    expect(anthropicWire.toolResults(lastBody())).toMatchObject([{ output: '{"safe":true}' }]);
  });

  it('adds context to a successful result, and is not called for a failed one', async () => {
    const talk = await Talk.start(service);
    const asked: string[] = [];
    during(talk.threadId, {
      tools: [echo, tool('failing', () => Promise.resolve({ output: 'no', isError: true }))],
      hooks: {
        afterToolCall: (_run, { name }) => {
          asked.push(name);
          return Promise.resolve(['Mind the gap.']);
        },
      },
    });
    service.models.next(
      answers({
        calls: [
          { id: 'a', name: 'echo' },
          { id: 'b', name: 'failing' },
        ],
      }),
      says('Done'),
    );
    await talk.run('Go');
    expect(asked).toEqual(['echo']);
    expect(anthropicWire.toolResults(lastBody())).toEqual([
      { id: 'a', output: '{}\n\nMind the gap.', isError: false },
      { id: 'b', output: 'no', isError: true },
    ]);
  });
});

describe('a hook before the end', () => {
  it('continues the reply once, with its guidance, and is ignored the second time', async () => {
    const talk = await Talk.start(service);
    const seen: [string, boolean][] = [];
    during(talk.threadId, {
      hooks: {
        beforeStop: (_run, text, continued) => {
          seen.push([text, continued]);
          return Promise.resolve({ decision: 'continue', reason: 'Name your sources.' });
        },
      },
    });
    service.models.next(says('It is so.'), says('Says the almanac.'));

    const events = await talk.streamed('Why?');

    expect(endOf(events)).toMatchObject({ outcome: { type: 'success' } });
    expect(service.models.requests).toHaveLength(2);
    expect(lastBody()['messages']).toMatchObject([
      { role: 'user', content: 'Why?' },
      { role: 'assistant' },
      { role: 'user', content: 'Name your sources.' },
    ]);
    expect(seen).toEqual([
      ['It is so.', false],
      ['Says the almanac.', true],
    ]);
    expect(await talk.lines()).toEqual(['user: Why?', 'assistant: It is so.\n\nSays the almanac.']);
    expect(textOf(events)).toBe('It is so.\n\nSays the almanac.');
  });
});

describe('a run that resumes another one', () => {
  it('knows that a hook has continued the reply before the request, and has the whole exchange', async () => {
    const talk = await Talk.start(service, { tools: { requireApprovalBeforeToolCalls: true } });
    const seen: [string, boolean][] = [];
    during(talk.threadId, {
      tools: [echo],
      hooks: {
        beforeStop: (_run, text, continued) => {
          seen.push([text, continued]);
          return Promise.resolve({ decision: 'continue', reason: 'Look it up.' });
        },
        beforeToolCall: () => Promise.resolve({ decision: 'allow', additionalContext: ['Seen by the guard.'] }),
      },
    });
    service.models.next(says('Maybe.'), calls('echo'));
    const asked = await talk.run('Is it?');
    service.models.next(says('It is.'));
    const [interrupt] = asked.body.interrupts;
    expect(interrupt).toEqual(expect.not.objectContaining({ additionalContext: expect.anything() }));
    await talk.resume({ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { approved: true } });
    expect(seen).toEqual([
      ['Maybe.', false],
      ['It is.', true],
    ]);
    expect(lastBody()['messages']).toMatchObject([
      { role: 'user', content: 'Is it?' },
      { role: 'assistant' },
      { role: 'user', content: 'Look it up.' },
      { role: 'assistant' },
      { role: 'user' },
    ]);
    expect(anthropicWire.toolResults(lastBody())).toMatchObject([
      { output: '{}\n\nSeen by the guard.', isError: false },
    ]);
  });
});

describe('a hook that throws', () => {
  const broken = () => Promise.reject(new Error('hook-canary'));

  it('after a call or before the end has no effect', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools: [echo], hooks: { afterToolCall: broken, beforeStop: broken } });
    service.models.next(calls('echo'), says('Done'));
    const { status, text } = await talk.run('Go');
    expect(status).toBe(200);
    expect(text).toContain('Done');
    expect(text + JSON.stringify(lastBody())).not.toContain('hook-canary');
  });

  it('before a call denies it: the tool does not run, and the model reads this', async () => {
    const talk = await Talk.start(service);
    let ran = false;
    const noted = tool('noted', () => {
      ran = true;
      return output('x');
    });
    during(talk.threadId, { tools: [noted], hooks: { beforeToolCall: broken } });
    service.models.next(calls('noted'), says('I could not.'));
    const { body, text } = await talk.run('Go');
    expect(body).toMatchObject({ message: { content: 'I could not.', toolCalls: [{ status: 'denied' }] } });
    expect(ran).toBe(false);
    expect(text + JSON.stringify(lastBody())).not.toContain('hook-canary');
  });

  it('before the prompt blocks it: the model is not called', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { hooks: { beforePrompt: broken } });
    const { body, text } = await talk.run('Go');
    expect(body).toMatchObject({ run: { status: 'completed' }, message: { blocked: true } });
    expect(service.models.requests).toEqual([]);
    expect(text).not.toContain('hook-canary');
  });
});

describe('the prompt', () => {
  it("is the agent's prompt, then the parts of the sources in their order", async () => {
    const talk = await Talk.start(service, { systemPrompt: 'You are brief.' });
    during(talk.threadId, { prompt: ['First part.', '', 'Second part.'] });
    service.models.next(says('Hello'));
    await talk.run('Hi');
    expect(sentSystem(lastBody())).toBe('You are brief.\n\nFirst part.\n\nSecond part.');
  });
});
