import { beforeEach, describe, expect, it } from '@jest/globals';
import { Canary } from '../../support/canary.js';
import { LEFT_OPEN } from '../../support/hook-server.js';
import { answerText, LyingToolServer } from '../../support/lying-tool-server.js';
import { customServer } from '../../support/tool-runs.js';
import { HooksOf, rowsOutsideVault } from './hooks-of.js';
import { useHookServer, useHookService } from './support.js';

const service = useHookService();
const server = useHookServer();

let tests = 0;
let path: string;
let hooks: HooksOf;

beforeEach(async () => {
  tests += 1;
  path = `/tried/${tests}`;
  hooks = await HooksOf.start(service);
});

const http = (more: object = {}, at = path): object => ({ type: 'http', url: server.url(at), ...more });
const MS = expect.any(Number);
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);

describe('POST /hooks/test', () => {
  it('returns no results when the event has no handlers', async () => {
    const answers = [await hooks.test({ event: 'Stop' })];
    await hooks.set({ PreToolUse: [{ hooks: [http()] }], Stop: [] });
    answers.push(await hooks.test({ event: 'Stop' }));
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [200, '{"results":[]}'],
      [200, '{"results":[]}'],
    ]);
  });

  it('returns the outcome of each handler, in their order over all groups', async () => {
    server.url(`${path}/blocks`, () => ({ decision: 'block', reason: 'No' }));
    server.url(`${path}/adds`, () => ({ additionalContext: 'one', hookSpecificOutput: { additionalContext: 'two' } }));
    server.url(`${path}/fails`, (_hook, response) => response.writeHead(500).end());
    await hooks.set({
      UserPromptSubmit: [
        { hooks: [http({}, `${path}/blocks`), http()] },
        { hooks: [http({}, `${path}/adds`), http({}, `${path}/fails`), http({ failClosed: true }, `${path}/fails`)] },
      ],
    });
    const { status, body } = await hooks.test({ event: 'UserPromptSubmit' });
    const of = (handler: number) => ({ event: 'UserPromptSubmit', handler, type: 'http', latencyMs: MS, error: null });
    const error = 'The endpoint responded with the status 500.';
    expect([status, body]).toEqual([
      200,
      {
        results: [
          { ...of(0), outcome: 'blocked', verdict: { decision: 'block', reason: 'No' } },
          { ...of(1), outcome: 'ok', verdict: {} },
          { ...of(2), outcome: 'ok', verdict: { additionalContext: ['two', 'one'] } },
          { ...of(3), outcome: 'failed', verdict: null, error },
          { ...of(4), outcome: 'failed', verdict: { decision: 'block' }, error },
        ],
      },
    ]);
  });

  it.each<[string, (canary: Canary) => object, RegExp]>([
    ['no server listens', () => http({ url: 'http://127.0.0.1:1/' }), /./],
    ['a private address', () => http({ url: 'https://10.0.0.1/' }), /address/],
    ['a redirect', (canary) => http({ url: canary.url }), /redirect|302/],
  ])('returns why a handler failed: %s', async (_what, handler, error) => {
    const canary = await Canary.start((_request, response) =>
      response.writeHead(302, { location: server.url(path) }).end(),
    );
    await hooks.set({ Stop: [{ hooks: [handler(canary)] }] });
    expect((await hooks.test({ event: 'Stop' })).body.results).toMatchObject([
      { outcome: 'failed', verdict: null, error: expect.stringMatching(error) },
    ]);
    expect(server.of(path)).toEqual([]);
    await canary.close();
  });

  it('waits for a handler until its timeout', async () => {
    server.url(path, () => LEFT_OPEN);
    await hooks.set({ Stop: [{ hooks: [http({ timeout: 1 }), http({}, `${path}/other`)] }] });
    const { results } = (await hooks.test({ event: 'Stop' })).body;
    expect(results).toMatchObject([
      { outcome: 'failed', error: 'The handler did not answer within 1 second.' },
      { outcome: 'ok' },
    ]);
    expect(Number(results[0]?.['latencyMs'])).toBeGreaterThanOrEqual(990);
  });
});

describe('the input', () => {
  it.each([
    ['SessionStart', { source: 'startup' }],
    ['UserPromptSubmit', { prompt: expect.any(String) }],
    ['PreToolUse', { tool_name: expect.any(String), tool_input: {} }],
    ['PostToolUse', { tool_name: expect.any(String), tool_input: {}, tool_response: expect.any(String) }],
    ['Stop', { last_assistant_message: expect.any(String), stop_hook_active: false }],
  ])('of %s has all fields of the input of runs when the request has none', async (event, fields) => {
    await hooks.set({ [event]: [{ hooks: [http()] }] });
    await hooks.test({ event });
    expect(server.of(path).map(({ input, headers }) => [input, headers['x-hook-event']])).toEqual([
      [
        {
          session_id: UUID,
          hook_event_name: event,
          agent_id: hooks.agentId,
          run_id: UUID,
          user_context: {},
          ...fields,
        },
        event,
      ],
    ]);
  });

  it('of the request replaces sample fields and adds others, but not the event', async () => {
    await hooks.set({ PreToolUse: [{ hooks: [http()] }] });
    const input = {
      tool_name: 'mine',
      tool_input: { a: [1] },
      user_context: { plan: 'gold' },
      session_id: 's',
      extra: null,
      hook_event_name: 'Stop',
    };
    await hooks.test({ event: 'PreToolUse', input });
    expect(server.of(path)[0]?.input).toEqual({
      ...input,
      hook_event_name: 'PreToolUse',
      agent_id: hooks.agentId,
      run_id: UUID,
    });
  });

  it.each([
    ['PreToolUse', 'tool_name'],
    ['PostToolUse', 'tool_name'],
    ['SessionStart', 'source'],
  ])('of %s selects handlers by their matchers when it has %s, and otherwise all are called', async (event, field) => {
    await hooks.set({
      [event]: [
        { matcher: 'read|write', hooks: [http()] },
        { matcher: '^wr', hooks: [http(), http()] },
        { hooks: [http()] },
      ],
    });
    const asked = async (input?: object): Promise<readonly unknown[]> =>
      (await hooks.test({ event, ...(input && { input }) })).body.results.map(({ handler }) => handler);
    expect(await asked()).toEqual([0, 1, 2, 3]);
    expect(await asked({ prompt: 'x' })).toEqual([0, 1, 2, 3]);
    expect(await asked({ [field]: 'read' })).toEqual([0, 3]);
    expect(await asked({ [field]: 'writes' })).toEqual([1, 2, 3]);
    expect(await asked({ [field]: 'other' })).toEqual([3]);
  });

  it.each(['UserPromptSubmit', 'Stop'])('of %s has no field for matchers, so all are called', async (event) => {
    await hooks.set({ [event]: [{ matcher: 'read', hooks: [http()] }] });
    expect((await hooks.test({ event, input: { tool_name: 'write', source: 'other' } })).body.results).toHaveLength(1);
  });
});

describe('a tool handler', () => {
  it('receives its template with replaced placeholders, limited to declared keys, and the user context', async () => {
    const tools = await LyingToolServer.start();
    tools.answer('tools/call', (call) => answerText(call, 'It is Monday.'));
    await hooks.ask('POST', 'tool-integrations', {}, customServer({ url: tools.url }));
    const handler = { type: 'mcp_tool', server: 'tickets', tool: 'echo', input: { text: '${prompt}!', other: 'x' } };
    await hooks.set({ UserPromptSubmit: [{ hooks: [handler, { ...handler, tool: 'missing' }] }] });
    const input = { prompt: 'Hi', user_context: { plan: 'gold' } };
    const { results } = (await hooks.test({ event: 'UserPromptSubmit', input })).body;
    expect(results).toMatchObject([
      { handler: 0, type: 'mcp_tool', outcome: 'ok', verdict: { additionalContext: ['It is Monday.'] }, error: null },
      { handler: 1, type: 'mcp_tool', outcome: 'failed', verdict: null, error: expect.stringContaining('missing') },
    ]);
    const calls = tools.requests.filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ params }) => params)).toMatchObject([
      { name: 'echo', arguments: { text: 'Hi!' }, _meta: { userContext: { plan: 'gold' } } },
    ]);
    expect(calls[0]?.params['arguments']).toEqual({ text: 'Hi!' });
    await tools.close();
  });

  it.each<[string, string, string]>([
    ['as long as it is', 'x'.repeat(20_000), 'x'.repeat(10_000)],
    ['that is empty', '', 'The tool answered with an error.'],
  ])('that fails with a text %s has an error of bounded length', async (_what, text, error) => {
    const tools = await LyingToolServer.start();
    tools.answer('tools/call', ({ id, response }) => {
      const result = { content: [{ type: 'text', text }], isError: true };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    await hooks.ask('POST', 'tool-integrations', {}, customServer({ url: tools.url }));
    await hooks.set({ Stop: [{ hooks: [{ type: 'mcp_tool', server: 'tickets', tool: 'echo' }] }] });
    expect((await hooks.test({ event: 'Stop' })).body.results).toMatchObject([
      { outcome: 'failed', verdict: null, error },
    ]);
    await tools.close();
  });
});

describe('testing handlers', () => {
  it('writes nothing to threads and traces', async () => {
    await hooks.set({ UserPromptSubmit: [{ hooks: [http()] }], SessionStart: [{ hooks: [http()] }] });
    const before = await rowsOutsideVault(service);
    await hooks.test({ event: 'UserPromptSubmit', input: { prompt: 'canary of a test' } });
    await hooks.test({ event: 'SessionStart' });
    const after = await rowsOutsideVault(service);
    expect(after).not.toContain('canary of a test');
    for (const table of ['threads', 'messages', 'runs', 'traces', 'thread_sessions']) {
      expect(
        await service.database.query(`select 1 from ${table} where organization_id = $1`, [hooks.organization.id]),
      ).toEqual([]);
    }
    expect(await hooks.version()).toBe(2);
    expect(before.length).toBeGreaterThan(0);
    expect(service.models.requests).toEqual([]);
  });

  it.each<[string, object]>([
    ['no event', {}],
    ['an event that is none', { event: 'PreTool' }],
    ['an event of another type', { event: ['Stop'] }],
    ['an unknown field', { event: 'Stop', handler: 0 }],
    ['an input that is no object', { event: 'Stop', input: 'x' }],
    ['an input that is a list', { event: 'Stop', input: [] }],
    ['an input that is null', { event: 'Stop', input: null }],
  ])('is refused with %s', async (_what, body) => {
    await hooks.set({ Stop: [{ hooks: [http()] }] });
    const { status, body: refusal } = await hooks.test<{ code: string }>(body);
    expect([status, refusal.code]).toEqual([400, 'FST_ERR_VALIDATION']);
    expect(server.of(path)).toEqual([]);
  });
});
