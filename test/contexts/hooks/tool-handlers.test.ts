import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { approve, ASKS_ALWAYS } from '../../support/approvals.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { calls, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';
import { connect, customServer } from '../../support/tool-integrations.js';
import { said, type ServedTool, ToolServer } from '../../support/tool-server.js';
import { group, type HooksDocument, setHooks, useHookServer, useHookService } from './support.js';

const service = useHookService({ extensions: scriptedRuns });
const endpoint = useHookServer();
const KINDS = ['streamableHttp', 'sse'] as const;
const CHECK = { type: 'mcp_tool', server: 'guard', tool: 'check' };

/** The tool's result in the running test. */
let answer: NonNullable<ServedTool['run']>;
let guards: Readonly<Record<(typeof KINDS)[number], ToolServer>>;

beforeAll(async () => {
  const names = ['value', 'text', 'other', 'deep', 'list'];
  const properties = Object.fromEntries(names.map((name) => [name, {}]));
  const check: ServedTool = {
    name: 'check',
    inputSchema: { type: 'object', properties },
    run: (input) => answer(input),
  };
  const started = await Promise.all(KINDS.map((kind) => ToolServer.start(kind, check)));
  guards = Object.fromEntries(started.map((server) => [server.kind, server])) as typeof guards;
});
afterAll(() => Promise.all(KINDS.map((kind) => guards[kind].close())));
beforeEach(() => {
  answer = () => said('');
  for (const kind of KINDS) guards[kind].reset();
});

/** A conversation with an agent that has the guard, these hooks and a tool `echo` that returns its input. */
async function talkWithGuard(
  hooks: HooksDocument,
  kind: (typeof KINDS)[number] = 'streamableHttp',
  more: object = {},
  agent: Readonly<Record<string, unknown>> = {},
): Promise<Talk> {
  const talk = await Talk.start(service, agent);
  await connect(service, talk, customServer('guard', guards[kind], { ...more }));
  await setHooks(service, talk, hooks);
  during(talk.threadId, { tools: [tool('echo', (input) => output(JSON.stringify(input)))] });
  return talk;
}

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

async function hookSteps(talk: Talk): Promise<readonly object[]> {
  return (await talk.trace()).steps.filter(({ type }) => type === 'hook');
}

describe('the input of a tool handler', () => {
  const INPUT = { path: '/tmp', list: [{ name: 'a' }, { name: 'b' }], count: 5, none: null, at: { x: { y: 1 } } };

  /** What the tool receives when its handler has this input. */
  async function received(input: object): Promise<unknown> {
    const talk = await talkWithGuard({ PreToolUse: [group([{ ...CHECK, input }])] });
    service.models.next(calls('echo', INPUT), says('Done'));
    await talk.run('Go', { config: { userContext: { plan: 'gold' } } });
    expect(await hookSteps(talk)).toMatchObject([{ output: { outcome: 'ok' } }]);
    expect(guards.streamableHttp.calls).toHaveLength(1);
    return guards.streamableHttp.calls[0]?.input;
  }

  it('has the fields of the hook input in place of its placeholders, and lacks values whose field is absent', async () => {
    const input = {
      value: '${tool_input.at.x}',
      text: 'In ${tool_input.path}/${tool_input.list.0.name}: ${tool_input.at}.',
      other: '${tool_input.nowhere}',
      deep: {
        ...{ object: '${tool_input}', null: '${tool_input.none}', plan: '${user_context.plan}' },
        ...{ tool: '${tool_name}', event: '${hook_event_name}', absent: '${tool_input.__proto__}' },
      },
      list: ['${tool_input.nowhere}', '${tool_input.count}', ['${tool_input.at.z}']],
    };
    expect(await received(input)).toEqual({
      value: { y: 1 },
      text: 'In /tmp/a: {"x":{"y":1}}.',
      deep: { object: INPUT, null: null, plan: 'gold', tool: 'echo', event: 'PreToolUse' },
      list: [5, []],
    });
  });

  it('lacks keys that the tool does not declare', async () => {
    expect(await received({ value: 1, undeclared: 2, constructor: 3, deep: { undeclared: 4 } })).toEqual({
      value: 1,
      deep: { undeclared: 4 },
    });
  });

  it('is empty when the handler has none', async () => {
    const talk = await talkWithGuard({ UserPromptSubmit: [group([CHECK])] });
    service.models.next(says('Hello'));
    await talk.run('Hi');
    expect(guards.streamableHttp.calls).toMatchObject([{ name: 'check', input: {} }]);
  });

  it('is not sent when placeholders make it too large, and the handler fails', async () => {
    const large = '${prompt}'.repeat(1_000);
    const talk = await talkWithGuard({
      UserPromptSubmit: [
        group([{ ...CHECK, input: { list: Array.from({ length: 20 }, () => large) }, failClosed: true }]),
      ],
    });
    expect(await talk.run('x'.repeat(5_000))).toMatchObject({ status: 200, body: { message: { blocked: true } } });
    expect(await hookSteps(talk)).toMatchObject([
      { error: expect.stringContaining('larger than 2000000 characters'), output: { outcome: 'failed' } },
    ]);
    expect(guards.streamableHttp.calls).toEqual([]);
  });
});

describe.each(KINDS)('the result of a tool over %s', (kind) => {
  it('that is JSON is an output: a block', async () => {
    answer = () => said(JSON.stringify({ decision: 'block', reason: 'Not on a Sunday.' }));
    const talk = await talkWithGuard({ UserPromptSubmit: [group([CHECK])] }, kind);
    expect(await talk.run('Hi')).toMatchObject({
      body: { run: { status: 'completed' }, message: { content: 'Not on a Sunday.', blocked: true } },
    });
    expect(service.models.requests).toEqual([]);
    expect(await hookSteps(talk)).toMatchObject([
      {
        name: 'UserPromptSubmit',
        input: { type: 'mcp_tool', server: 'guard', tool: 'check' },
        output: { outcome: 'blocked' },
        error: null,
      },
    ]);
  });

  it.each(['deny', 'ask'])('that is JSON is an output: %s', async (permissionDecision) => {
    const hookSpecificOutput = { permissionDecision, permissionDecisionReason: 'Ask the boss.' };
    answer = () => said(`\n ${JSON.stringify({ hookSpecificOutput })} `);
    const talk = await talkWithGuard({ PreToolUse: [group([CHECK])] }, kind);
    service.models.next(calls('echo'), says('I may not.'));
    expect(await talk.run('Go')).toMatchObject({
      body: { message: { content: 'I may not.', toolCalls: [{ status: 'denied' }] } },
    });
    expect(anthropicWire.toolResults(lastBody())).toMatchObject([{ output: 'Ask the boss.', isError: true }]);
  });

  it('that is JSON is an output: changed arguments, and context', async () => {
    answer = () =>
      said(JSON.stringify({ additionalContext: 'Made safe.', hookSpecificOutput: { updatedInput: { safe: true } } }));
    const talk = await talkWithGuard({ PreToolUse: [group([CHECK])] }, kind);
    service.models.next(calls('echo', { safe: false }), says('Done'));
    expect((await talk.run('Go')).body.message?.toolCalls).toMatchObject([
      { input: { safe: true }, status: 'completed' },
    ]);
    expect(anthropicWire.toolResults(lastBody())).toMatchObject([
      { output: '{"safe":true}\n\nMade safe.', isError: false },
    ]);
  });

  it('that is other text is context', async () => {
    answer = () => said('[Note] It is Monday.');
    const talk = await talkWithGuard({ UserPromptSubmit: [group([CHECK])] }, kind);
    service.models.next(says('Hello'));
    await talk.run('Hi');
    expect(lastBody()['messages']).toEqual([{ role: 'user', content: 'Hi\n\n[Note] It is Monday.' }]);
  });

  it('that is empty has no effect', async () => {
    answer = () => said('  \n');
    const talk = await talkWithGuard({ UserPromptSubmit: [group([{ ...CHECK, failClosed: true }])] }, kind);
    service.models.next(says('Hello'));
    expect(await talk.run('Hi')).toMatchObject({ body: { message: { content: 'Hello' } } });
    expect(lastBody()['messages']).toEqual([{ role: 'user', content: 'Hi' }]);
  });
});

interface Broken {
  readonly what: string;
  readonly error: RegExp;
  readonly hook?: object;
  readonly answer?: NonNullable<ServedTool['run']>;
}

const BROKEN: readonly Broken[] = [
  { what: 'answers with an error', error: /^The guard is asleep\.$/, answer: () => said('The guard is asleep.', true) },
  {
    what: 'answers with an error without text',
    error: /^The tool answered with an error\.$/,
    answer: () => ({ content: [], isError: true }),
  },
  {
    what: 'answers with an error that looks like output',
    error: /decision/,
    answer: () => said('{"decision": "block"}', true),
  },
  { what: 'answers malformed output', error: /^reason is not a string\.$/, answer: () => said('{"reason": 1}') },
  {
    what: 'never answers',
    error: /did not answer within 1 second\.$/,
    hook: { timeout: 1 },
    answer: () => new Promise(() => undefined),
  },
  { what: 'does not exist on the server', error: /lists no tool 'absent'\.$/, hook: { tool: 'absent' } },
];

/** Expects that the handler is ignored without failClosed, and blocks with it. */
async function expectFailure(talkOf: (handler: object) => Promise<Talk>, hook: object, error: RegExp): Promise<void> {
  const open = await talkOf({ ...CHECK, ...hook });
  service.models.next(says('Hello'));
  expect(await open.run('Hi')).toMatchObject({ status: 200, body: { message: { content: 'Hello' } } });
  expect(lastBody()['messages']).toEqual([{ role: 'user', content: 'Hi' }]);
  expect(await hookSteps(open)).toMatchObject([
    { output: { outcome: 'failed', verdict: null }, error: expect.stringMatching(error) },
  ]);

  const closed = await talkOf({ ...CHECK, ...hook, failClosed: true });
  expect(await closed.run('Hi')).toMatchObject({
    status: 200,
    body: { run: { status: 'completed' }, message: { blocked: true } },
  });
  expect(service.models.requests).toHaveLength(1);
  expect(await hookSteps(closed)).toMatchObject([
    { output: { outcome: 'failed', verdict: { decision: 'block' } }, error: expect.stringMatching(error) },
  ]);
}

describe('a tool handler fails, open or closed, when', () => {
  it.each(BROKEN)('its tool $what', async ({ hook = {}, answer: given, error }) => {
    if (given) answer = given;
    await expectFailure((handler) => talkWithGuard({ UserPromptSubmit: [group([handler])] }), hook, error);
  });

  it.each(KINDS)('its server, which used %s, is down', async (kind) => {
    await expectFailure(
      async (handler) => {
        const server = await ToolServer.start(kind, { name: 'check' });
        const talk = await Talk.start(service);
        await connect(service, talk, customServer('guard', server));
        await setHooks(service, talk, { UserPromptSubmit: [group([handler])] });
        await server.close();
        return talk;
      },
      {},
      /^[A-Z].*\.$/,
    );
  });

  it('its integration was removed', async () => {
    await expectFailure(
      async (handler) => {
        const talk = await talkWithGuard({ UserPromptSubmit: [group([handler])] });
        const { body } = await service.http<{ integrations: { id: string }[] }>(
          'GET',
          `/v1/agents/${talk.agentId}/tool-integrations`,
          { key: talk.key },
        );
        for (const { id } of body.integrations) {
          await service.http('DELETE', `/v1/agents/${talk.agentId}/tool-integrations/${id}`, { key: talk.key });
        }
        return talk;
      },
      {},
      /^The agent has no custom-mcp integration 'guard'\.$/,
    );
  });
});

describe('the call of a hook', () => {
  it('may use a tool that the model is not offered', async () => {
    answer = () => said('It is Monday.');
    const talk = await talkWithGuard({ UserPromptSubmit: [group([CHECK])] }, 'streamableHttp', {
      excludedTools: ['check'],
    });
    service.models.next(says('Hello'));
    await talk.run('Hi');
    expect(sentToolNames(lastBody())).toEqual(['echo']);
    expect(lastBody()['messages']).toEqual([{ role: 'user', content: 'Hi\n\nIt is Monday.' }]);
  });

  it.each(KINDS)('sends the userContext of the run over %s, and none when there is none', async (kind) => {
    const talk = await talkWithGuard({ UserPromptSubmit: [group([CHECK])] }, kind);
    service.models.next(says('Hello'), says('Bye'));
    await talk.run('Hi', { config: { userContext: { userId: 'u1', seats: 4 } } });
    await talk.run('And now?');
    expect(guards[kind].calls.map(({ meta }) => meta['userContext'])).toEqual([{ userId: 'u1', seats: 4 }, undefined]);
  });

  it('triggers no hooks, not even its own, and needs no approval', async () => {
    const url = endpoint.url('/all');
    const everything = group([{ type: 'http', url }, CHECK], '*');
    const talk = await talkWithGuard(
      {
        UserPromptSubmit: [group([CHECK])],
        PreToolUse: [everything],
        PostToolUse: [everything],
        Stop: [group([CHECK])],
      },
      'streamableHttp',
      {},
      ASKS_ALWAYS,
    );
    service.models.next(calls('echo'));
    const asked = await talk.run('Go');
    expect(asked.body.interrupts).toMatchObject([{ metadata: { tool: 'echo' } }]);
    service.models.next(says('Done'));
    const [interrupt] = asked.body.interrupts;
    if (!interrupt) throw new Error('The run has no interrupt');
    expect((await talk.resume(approve(interrupt))).body.message).toMatchObject({ content: 'Done' });
    expect(endpoint.of('/all').map(({ input }) => [input['hook_event_name'], input['tool_name']])).toEqual([
      ['PreToolUse', 'echo'],
      ['PostToolUse', 'echo'],
    ]);
    expect(guards.streamableHttp.calls.map(({ name }) => name)).toEqual(['check', 'check', 'check', 'check']);
  });
});
