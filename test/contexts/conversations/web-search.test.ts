import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it } from '@jest/globals';
import { approve, ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { type StreamedEvent, useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, Talk, textOf, typesOf } from '../../support/talk.js';
import {
  answersBlocks,
  blockFrames,
  foundBlock,
  searchBlock,
  searchErrorBlock,
  SEALED_PAGE,
  textBlock,
  toolBlock,
} from '../../support/web-search.js';

const service = useService({ extensions: scriptedRuns });

const SEARCHES = { tools: { integrations: ['webSearch'] } };
const OSLO = { url: 'https://example.com/oslo', title: 'Oslo' };
const NORWAY = { url: 'https://example.com/norway', title: 'Norway' };
const FOUND = 'Oslo\nhttps://example.com/oslo\n\nNorway\nhttps://example.com/norway';
const CITED = {
  type: 'citations_delta',
  citation: { type: 'web_search_result_location', ...OSLO, cited_text: 'capital', encrypted_index: 'e' },
};

const searches = [
  textBlock('I look it up.'),
  searchBlock('s1', { query: 'capital of Norway' }),
  foundBlock('s1', [OSLO, NORWAY]),
  textBlock('It is ', CITED),
  textBlock('Oslo.'),
];

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

function ofType(events: readonly StreamedEvent[], type: string): StreamedEvent['event'][] {
  return events.map(({ event }) => event).filter((event) => event.type === type);
}

function stored(
  talk: Talk,
): Promise<{ transcript: unknown[]; tool_calls: { id: string; status: string; output?: string }[] }[]> {
  return service.database.query(
    "select transcript, tool_calls from messages where thread_id = $1 and role = 'assistant' order by seq",
    [talk.threadId],
  );
}

describe('a web search that the provider makes', () => {
  it('is shown at its place in the reply, stored with the message, and a step of the trace', async () => {
    const talk = await Talk.start(service, SEARCHES);
    service.models.next(answersBlocks(searches));

    const events = await talk.streamed('What is the capital of Norway?');

    expect(typesOf(events)).toEqual([
      'RUN_STARTED',
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT'],
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
      'RUN_FINISHED',
    ]);
    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    expect(ofType(events, 'TOOL_CALL_START')).toMatchObject([{ toolCallId: 's1', toolCallName: 'web_search' }]);
    expect(ofType(events, 'TOOL_CALL_ARGS')).toMatchObject([
      { toolCallId: 's1', delta: '{"query":"capital of Norway"}' },
    ]);
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ toolCallId: 's1', content: FOUND }]);
    expect(textOf(events)).toBe('I look it up.\n\nIt is Oslo.');
    const input = { query: 'capital of Norway' };
    const [, message] = await talk.messages();
    expect(message).toMatchObject({
      content: textOf(events),
      toolCalls: [{ id: 's1', name: 'web_search', input, output: FOUND, status: 'completed' }],
    });
    expect(endOf(events)).toMatchObject({ outcome: { type: 'success' }, result: { message } });
    const trace = await talk.trace();
    expect(trace.steps).toMatchObject([
      { type: 'model', error: null },
      { type: 'tool', name: 'web_search', input, output: FOUND, error: null, latencyMs: expect.any(Number) },
    ]);
    expect(JSON.stringify([events, message, trace])).not.toContain(SEALED_PAGE);
    expect(await stored(talk)).toMatchObject([{ transcript: [] }]);
  });

  it('is not shown when toolProgress is off, but is in the trace', async () => {
    const talk = await Talk.start(service, { ...SEARCHES, toolProgress: { enabled: false } });
    service.models.next(answersBlocks(searches));

    const events = await talk.streamed('Where?');

    expect(typesOf(events).filter((type) => type.startsWith('TOOL_CALL'))).toEqual([]);
    expect(textOf(events)).toBe('I look it up.\n\nIt is Oslo.');
    for (const message of [...(await talk.messages()), endOf(events)['result']])
      expect(message).not.toHaveProperty('toolCalls');
    expect((await talk.trace()).steps).toMatchObject([{ type: 'model' }, { type: 'tool', name: 'web_search' }]);
  });

  it('is no call in later runs, which have only the reply', async () => {
    const talk = await Talk.start(service, SEARCHES);
    service.models.next(answersBlocks(searches), says('You are welcome.'));
    await talk.run('Where?');
    await talk.run('Thanks');
    expect(lastBody()['messages']).toEqual([
      { role: 'user', content: 'Where?' },
      { role: 'assistant', content: [{ type: 'text', text: 'I look it up.\n\nIt is Oslo.' }] },
      { role: 'user', content: 'Thanks' },
    ]);
  });

  it('needs neither hooks nor approval', async () => {
    const talk = await Talk.start(service, { tools: { ...SEARCHES.tools, ...ASKS_ALWAYS.tools } });
    const asked: string[] = [];
    during(talk.threadId, {
      hooks: {
        beforeToolCall: (_run, { name }) => Promise.resolve({ decision: 'deny', reason: String(asked.push(name)) }),
        afterToolCall: (_run, { name }) => Promise.resolve([String(asked.push(name))]),
      },
    });
    service.models.next(answersBlocks(searches));
    expect(await talk.run('Where?')).toMatchObject({ body: { run: { status: 'completed' }, interrupts: [] } });
    expect(asked).toEqual([]);
  });

  it.each([
    ['max_uses_exceeded', expect.stringContaining('limit of searches')],
    ['a_code_of_tomorrow', 'The web search failed.'],
  ])('that fails with %s has an error text, and the reply continues', async (code, words) => {
    const talk = await Talk.start(service, SEARCHES);
    service.models.next(
      answersBlocks([searchBlock('s1', { query: 'x' }), searchErrorBlock('s1', code), textBlock('Sorry.')]),
    );

    const events = await talk.streamed('Where?');

    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ toolCallId: 's1', content: words }]);
    expect((await talk.messages())[1]).toMatchObject({
      content: 'Sorry.',
      toolCalls: [{ output: words, status: 'failed' }],
    });
    expect((await talk.trace()).steps[1]).toMatchObject({ name: 'web_search', output: words, error: words });
  });

  it('without results says so', async () => {
    const talk = await Talk.start(service, SEARCHES);
    service.models.next(
      answersBlocks([searchBlock('s1', { query: 'x' }), foundBlock('s1', []), textBlock('Nothing.')]),
    );
    await talk.run('Where?');
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([{ output: 'No pages found.', status: 'completed' }]);
  });

  it('is one call when the provider pauses during it', async () => {
    const talk = await Talk.start(service, SEARCHES);
    const [said, search, ...rest] = searches;
    service.models.next(
      answersBlocks(
        [said, search].filter((block) => block !== undefined),
        'pause_turn',
      ),
      answersBlocks(rest),
    );

    const events = await talk.streamed('Where?');

    expect(ofType(events, 'TOOL_CALL_START')).toHaveLength(1);
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ toolCallId: 's1', content: FOUND }]);
    expect(textOf(events)).toBe('I look it up.\n\nIt is Oslo.');
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([{ id: 's1', status: 'completed' }]);
  });
});

describe('a web search beside the calls of tools', () => {
  const both = [...searches.slice(0, 3), toolBlock('c1', 'weather', { city: 'Oslo' })];
  const weather = tool('weather', ({ city }) => output(`rain in ${String(city)}`));

  it('is sent back to the provider unchanged in the same run, and not in later runs', async () => {
    const talk = await Talk.start(service, SEARCHES);
    during(talk.threadId, { tools: [weather] });
    service.models.next(answersBlocks(both, 'tool_use'), says('It rains there.'), says('Bye.'));

    await talk.run('Where, and how is it?');
    const [, answer] = lastBody()['messages'] as { content: { type: string }[] }[];
    expect(answer?.content.map(({ type }) => type)).toEqual([
      'text',
      'server_tool_use',
      'web_search_tool_result',
      'tool_use',
    ]);
    expect(JSON.stringify(answer)).toContain(SEALED_PAGE);
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([
      { id: 's1', name: 'web_search', status: 'completed' },
      { id: 'c1', name: 'weather', output: 'rain in Oslo', status: 'completed' },
    ]);
    expect((await talk.trace()).steps.map(({ name }) => name).slice(1)).toEqual([
      'web_search',
      'weather',
      expect.any(String),
    ]);

    await talk.run('Thanks');
    expect(JSON.stringify(lastBody()['messages'])).not.toMatch(/web_search|server_tool_use|sealed/);
    expect(JSON.stringify(lastBody()['messages'])).toContain('rain in Oslo');
  });

  it('is sent back in the run that resumes with an approved call', async () => {
    const talk = await Talk.start(service, { tools: { ...SEARCHES.tools, ...ASKS_ALWAYS.tools } });
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(
      answersBlocks([...searches.slice(0, 3), toolBlock('c1', 'pay', { sum: 1 })], 'tool_use'),
      says('Paid.'),
    );
    const { body } = await talk.run('Pay');
    expect(body).toMatchObject({ run: { status: 'requires_action' } });
    expect(body.interrupts.map(({ toolCallId }) => toolCallId)).toEqual(['c1']);
    expect(body.message?.toolCalls).toMatchObject([
      { id: 's1', status: 'completed' },
      { id: 'c1', status: 'awaiting_approval' },
    ]);

    const resumed = await talk.resume(...body.interrupts.map(approve));

    expect(resumed.body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Paid.' } });
    expect(JSON.stringify(lastBody()['messages'])).toContain(SEALED_PAGE);
    expect(resumed.body.message?.toolCalls).toMatchObject([{ id: 'c1', status: 'completed' }]);
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([
      { id: 's1', status: 'completed' },
      { id: 'c1', status: 'approved' },
    ]);
  });

  it('may have its result in the next answer', async () => {
    const talk = await Talk.start(service, SEARCHES);
    during(talk.threadId, { tools: [weather] });
    service.models.next(
      answersBlocks([searchBlock('s1', { query: 'x' }), toolBlock('c1', 'weather', { city: 'Oslo' })], 'tool_use'),
      answersBlocks([foundBlock('s1', [OSLO]), textBlock('Oslo, in the rain.')]),
    );

    const events = await talk.streamed('Where, and how is it?');

    expect(ofType(events, 'TOOL_CALL_RESULT').map(({ toolCallId }) => toolCallId)).toEqual(['c1', 's1']);
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([
      { id: 's1', output: 'Oslo\nhttps://example.com/oslo', status: 'completed' },
      { id: 'c1', status: 'completed' },
    ]);
  });
});

describe('a web search without a result', () => {
  it('is unknown when the answer fails, and the next run works', async () => {
    const talk = await Talk.start(service, SEARCHES);
    const frames = blockFrames([textBlock('I look.'), searchBlock('s1', { query: 'x' }), textBlock('never sent')]);
    const cut = frames.findIndex((frame) => frame.includes('never sent'));
    service.models.next(async (exchange) => {
      for (const frame of frames.slice(0, cut)) await exchange.send(frame);
      exchange.reset();
    }, says('Back'));

    const events = await talk.streamed('Where?');

    expect(endOf(events)).toMatchObject({ type: 'RUN_ERROR', code: 'provider_error' });
    expect(ofType(events, 'TOOL_CALL_RESULT')).toEqual([]);
    expect(ofType(events, 'TOOL_CALL_END')).toHaveLength(1);
    expect((await talk.messages())[1]).toMatchObject({
      content: 'I look.',
      status: 'incomplete',
      toolCalls: [{ id: 's1', status: 'unknown' }],
    });
    expect((await talk.trace()).steps).toMatchObject([
      { type: 'model' },
      { name: 'web_search', error: expect.any(String) },
    ]);
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    expect(JSON.stringify(lastBody()['messages'])).not.toContain('web_search');
  });

  it.each([
    ['failed', 'ends there', [searchBlock('s1', { query: 'x' })], 1],
    ['not shown', 'is cut off within it', [searchBlock('s1', { query: 'x' }).slice(0, 2) as [object, object]], 0],
  ] as const)('is %s where the answer %s by the token limit', async (_what, _where, blocks, shown) => {
    const talk = await Talk.start(service, SEARCHES);
    service.models.next(answersBlocks([textBlock('I look.'), ...blocks], 'max_tokens'));

    const events = await talk.streamed('Where?');

    expect(endOf(events)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    for (const type of ['TOOL_CALL_START', 'TOOL_CALL_END', 'TOOL_CALL_RESULT'])
      expect(ofType(events, type)).toHaveLength(shown);
    expect((await talk.messages())[1]?.toolCalls?.map(({ status }) => status)).toEqual(Array(shown).fill('failed'));
  });
});

describe('the setting', () => {
  it('is set when the agent is created, changed with its provider, and reaches the model', async () => {
    const searching = expect.arrayContaining([{ type: 'web_search_20250305', name: 'web_search' }]);
    const talk = await Talk.start(service, SEARCHES);
    const turn = async (webSearch?: boolean): Promise<unknown> => {
      const body = { provider: { type: 'anthropic', webSearch } };
      if (webSearch !== undefined) {
        const changed = await service.http('PATCH', `/v1/agents/${talk.agentId}`, { key: talk.key, body });
        expect(changed).toMatchObject({ status: 200, body: { provider: { webSearch } } });
      }
      service.models.next(says('ok'));
      await talk.run('Hi');
      return lastBody()['tools'];
    };
    expect(await turn()).toEqual(searching);
    expect(await turn(false)).toBeUndefined();
    expect(await turn(true)).toEqual(searching);
  });

  it('yields to a tool with the same name', async () => {
    const talk = await Talk.start(service, SEARCHES);
    during(talk.threadId, { tools: [tool('web_search', () => output('ours'))] });
    service.models.next(says('ok'));
    await talk.run('Hi');
    expect(lastBody()['tools']).toEqual([
      expect.objectContaining({ name: 'web_search', input_schema: expect.anything() }),
    ]);
  });
});
