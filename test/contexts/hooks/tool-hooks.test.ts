import { describe, expect, it } from '@jest/globals';
import { approve, ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { during, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { answersBlocks, foundBlock, searchBlock, textBlock } from '../../support/web-search.js';
import { group, talkWith, useHookServer, useHookService } from './support.js';

const service = useHookService({ extensions: scriptedRuns });
const server = useHookServer();

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

const results = () => anthropicWire.toolResults(lastBody());
const specific = (fields: object): object => ({ hookSpecificOutput: fields });

/** A handler at the path that always responds in this way. */
function http(path: string, answer?: object): object {
  return { type: 'http', url: server.url(path, answer && (() => answer)) };
}

describe('PreToolUse', () => {
  it('is called before a tool call with the input and the name that the model sees', async () => {
    const talk = await talkWith(service, { PreToolUse: [group([http('/pre')])] });
    during(talk.threadId, { tools: [new NotingTool('echo').offered] });
    service.models.next(calls('echo', { to: 'Ada' }), says('Done'));
    await talk.run('Go', { config: { userContext: { plan: 'gold' } } });
    expect(server.of('/pre').map(({ input }) => input)).toEqual([
      {
        session_id: talk.threadId,
        hook_event_name: 'PreToolUse',
        agent_id: talk.agentId,
        run_id: (await talk.messages())[0]?.runId,
        user_context: { plan: 'gold' },
        tool_name: 'echo',
        tool_input: { to: 'Ada' },
      },
    ]);
    expect((await talk.trace()).steps).toMatchObject([
      { type: 'model' },
      {
        type: 'hook',
        name: 'PreToolUse',
        input: { handler: 0, type: 'http', tool: 'echo', toolCallId: 'call_echo' },
        output: { outcome: 'ok', verdict: {} },
        error: null,
      },
      { type: 'tool', name: 'echo' },
      { type: 'model' },
    ]);
  });

  it.each([
    ['deny', { permissionDecision: 'deny', permissionDecisionReason: 'Ask the boss.' }, 'Ask the boss.'],
    ['deny without a reason', { permissionDecision: 'deny' }, expect.stringMatching(/^\S.*\.$/)],
    [
      'ask, which counts as deny',
      { permissionDecision: 'ask', permissionDecisionReason: 'Is it safe?' },
      'Is it safe?',
    ],
  ])(
    'that says %s keeps the call from being made, and the model reads the reason as its error',
    async (what, verdict, reason) => {
      const echo = new NotingTool('echo');
      const talk = await talkWith(service, {
        PreToolUse: [group([http(`/denies/${what.length}`, specific(verdict))])],
      });
      during(talk.threadId, { tools: [echo.offered] });
      service.models.next(calls('echo'), says('I may not.'));
      expect(await talk.run('Go')).toMatchObject({
        body: { message: { content: 'I may not.', toolCalls: [{ status: 'denied' }] } },
      });
      expect(echo.inputs).toEqual([]);
      expect(results()).toMatchObject([{ output: reason, isError: true }]);
      expect((await talk.trace()).steps[1]).toMatchObject({ type: 'hook', output: { outcome: 'blocked' } });
    },
  );

  it('that blocks like the other events prevents the call, too', async () => {
    const echo = new NotingTool('echo');
    const talk = await talkWith(service, {
      PreToolUse: [group([http('/block', { decision: 'block', reason: 'No.' })])],
    });
    during(talk.threadId, { tools: [echo.offered] });
    service.models.next(calls('echo'), says('I may not.'));
    await talk.run('Go');
    expect(echo.inputs).toEqual([]);
    expect(results()).toMatchObject([{ output: 'No.', isError: true }]);
  });

  it('uses the strictest of several decisions, whatever their order', async () => {
    const echo = new NotingTool('echo');
    const talk = await talkWith(service, {
      PreToolUse: [
        group([http('/strict/allows', specific({ permissionDecision: 'allow', updatedInput: { safe: true } }))]),
        group([
          http('/strict/denies', specific({ permissionDecision: 'deny', permissionDecisionReason: 'First reason.' })),
        ]),
        group([
          http('/strict/asks', specific({ permissionDecision: 'ask', permissionDecisionReason: 'Second reason.' })),
        ]),
      ],
    });
    during(talk.threadId, { tools: [echo.offered] });
    service.models.next(calls('echo'), says('I may not.'));
    await talk.run('Go');
    expect(echo.inputs).toEqual([]);
    expect(results()).toMatchObject([{ output: 'First reason.', isError: true }]);
  });

  it('replaces the input for the tool and for everything after it', async () => {
    const echo = new NotingTool('echo');
    const talk = await talkWith(service, {
      PreToolUse: [
        group([
          http('/updates', specific({ updatedInput: { safe: true } })),
          http('/updates/too', specific({ updatedInput: { safe: false } })),
        ]),
      ],
      PostToolUse: [group([http('/updated')])],
    });
    during(talk.threadId, { tools: [echo.offered] });
    service.models.next(calls('echo', { safe: false }), says('Done'));
    const { body } = await talk.run('Go');
    expect(echo.inputs).toEqual([{ safe: true }]);
    expect(body.message?.toolCalls).toMatchObject([{ input: { safe: true } }]);
    expect(server.of('/updated')[0]?.input).toMatchObject({ tool_input: { safe: true } });
  });

  it('is called before the approval: the user sees and approves the new input, and the result has the context', async () => {
    const echo = new NotingTool('echo');
    const answer = specific({ updatedInput: { safe: true }, additionalContext: 'Checked by the guard.' });
    const talk = await talkWith(service, { PreToolUse: [group([http('/approved', answer)])] }, ASKS_ALWAYS);
    during(talk.threadId, { tools: [echo.offered] });
    service.models.next(calls('echo', { safe: false }));
    const asked = await talk.run('Go');
    expect(asked.body.interrupts).toMatchObject([{ metadata: { input: { safe: true } } }]);
    expect(echo.inputs).toEqual([]);
    service.models.next(says('Done'));
    await talk.resume(...asked.body.interrupts.map(approve));
    expect(echo.inputs).toEqual([{ safe: true }]);
    expect(server.of('/approved')).toHaveLength(1);
    expect(results()).toMatchObject([{ output: 'echo {"safe":true}\n\nChecked by the guard.', isError: false }]);
  });

  it('that denies requests no approval', async () => {
    const talk = await talkWith(
      service,
      { PreToolUse: [group([http('/no-approval', specific({ permissionDecision: 'deny' }))])] },
      ASKS_ALWAYS,
    );
    during(talk.threadId, { tools: [new NotingTool('echo').offered] });
    service.models.next(calls('echo'), says('I may not.'));
    expect(await talk.run('Go')).toMatchObject({ body: { run: { status: 'completed' }, interrupts: [] } });
  });
});

describe('PostToolUse', () => {
  it('is called only after calls that succeeded, with their results', async () => {
    const talk = await talkWith(service, { PostToolUse: [group([http('/post')])] });
    const failing = tool('failing', () => Promise.resolve({ output: 'no', isError: true }));
    during(talk.threadId, { tools: [new NotingTool('echo').offered, failing] });
    service.models.next(
      answers({
        calls: [
          { id: 'a', name: 'echo', input: { n: 1 } },
          { id: 'b', name: 'failing' },
        ],
      }),
      says('Done'),
    );
    await talk.run('Go');
    expect(server.of('/post').map(({ input }) => input)).toMatchObject([
      { hook_event_name: 'PostToolUse', tool_name: 'echo', tool_input: { n: 1 }, tool_response: 'echo {"n":1}' },
    ]);
  });

  it('appends its contexts to the result in the order of the handlers, and the reason of a block as guidance', async () => {
    const echo = new NotingTool('echo');
    const talk = await talkWith(service, {
      PostToolUse: [
        group([
          http('/post/1', { additionalContext: 'One.' }),
          http('/post/2', { decision: 'block', reason: 'Do not tell.', additionalContext: 'Two.' }),
        ]),
        group([http('/post/3', specific({ additionalContext: 'Three.' }))]),
      ],
    });
    during(talk.threadId, { tools: [echo.offered] });
    service.models.next(calls('echo'), says('Done'));
    expect(await talk.run('Go')).toMatchObject({ body: { message: { toolCalls: [{ status: 'completed' }] } } });
    expect(echo.inputs).toEqual([{}]);
    expect(results()).toMatchObject([{ output: 'echo {}\n\nOne.\n\nTwo.\n\nDo not tell.\n\nThree.', isError: false }]);
  });

  it('is not called for tools that the provider runs', async () => {
    const talk = await talkWith(
      service,
      { PreToolUse: [group([http('/provider')])], PostToolUse: [group([http('/provider')])] },
      { tools: { integrations: ['webSearch'] } },
    );
    const found = [
      searchBlock('s1', { query: 'Oslo' }),
      foundBlock('s1', [{ url: 'https://example.com/oslo', title: 'Oslo' }]),
      textBlock('Oslo.'),
    ];
    service.models.next(answersBlocks(found));
    expect((await talk.run('Search')).body.message?.toolCalls).toMatchObject([{ status: 'completed' }]);
    expect(server.of('/provider')).toEqual([]);
  });
});

describe('handlers of one event', () => {
  it('are called in parallel', async () => {
    const waiting: (() => void)[] = [];
    // Each responds only when all three have been called.
    const together = (): Promise<object> =>
      new Promise((resolve) => {
        waiting.push(() => resolve({}));
        if (waiting.length === 3) for (const release of waiting) release();
      });
    const handlers = [1, 2, 3].map((number) => ({
      type: 'http',
      url: server.url(`/together/${number}`, together),
      failClosed: true,
    }));
    const talk = await talkWith(service, { UserPromptSubmit: [group(handlers.slice(0, 1)), group(handlers.slice(1))] });
    service.models.next(says('Hello'));
    expect(await talk.run('Hi')).toMatchObject({ body: { message: { content: 'Hello' } } });
  });

  it('have texts of more than 10,000 characters cut', async () => {
    const talk = await talkWith(service, {
      UserPromptSubmit: [group([http('/long', { additionalContext: `${'😀'.repeat(10_000)}x` })])],
    });
    service.models.next(says('Hello'));
    await talk.run('Hi');
    expect(lastBody()['messages']).toEqual([{ role: 'user', content: `Hi\n\n${'😀'.repeat(10_000)}` }]);
  });
});
