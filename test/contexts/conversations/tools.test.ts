import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it } from '@jest/globals';
import { useService, type StreamedEvent } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { AGENT_WIRES, PROVIDER_WIRES } from '../../support/provider-wire.js';
import { answers, calls, type ModelScript, says } from '../../support/scripted-models.js';
import { during, endlessTool, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, Talk, textOf, typesOf } from '../../support/talk.js';

const TOOL_ROUNDS = 25;
const REFUSED_ROUNDS = 3;
const SAME_CALLS = 5;

const clock = new ManualClock();
const service = useService({ clock, extensions: scriptedRuns });

const weather = tool('weather', ({ city }) => output(`rain in ${String(city)}`));

/** The last request in the provider's format. */
function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

function ofType(events: readonly StreamedEvent[], type: string): StreamedEvent['event'][] {
  return events.map(({ event }) => event).filter((event) => event.type === type);
}

/** The paths in a request with blank text. */
function blankTextsIn(value: unknown, path = 'body'): string[] {
  if (typeof value === 'string') return value !== '' && value.trim() === '' ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => blankTextsIn(each, `${path}.${name}`));
}

describe.each(AGENT_WIRES)('a tool on $provider', (wire) => {
  const agent = { provider: { type: wire.provider, model: wire.model } };
  const asksWeather = answers({
    text: 'Let me look.',
    opaque: 'sealed-state',
    calls: [{ id: 'call-1', name: 'weather', input: { city: 'Oslo' } }],
  });

  it('shows its call and result between the texts of one message, as in AG-UI', async () => {
    const talk = await Talk.start(service, agent);
    during(talk.threadId, { tools: [weather] });
    service.models.next(asksWeather, says('It ', 'rains.'));

    const events = await talk.streamed('Weather?');

    expect(typesOf(events)).toEqual([
      'RUN_STARTED',
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
      ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT'],
      ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
      'RUN_FINISHED',
    ]);
    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    const [stored] = (await talk.messages()).slice(1);
    expect(ofType(events, 'TEXT_MESSAGE_START').map(({ messageId }) => messageId)).toEqual([stored?.id, stored?.id]);
    expect(ofType(events, 'TOOL_CALL_START')).toMatchObject([
      { toolCallId: 'call-1', toolCallName: 'weather', parentMessageId: stored?.id },
    ]);
    const written = ofType(events, 'TOOL_CALL_ARGS')
      .map(({ delta }) => String(delta))
      .join('');
    expect(JSON.parse(written)).toEqual({ city: 'Oslo' });
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { toolCallId: 'call-1', content: 'rain in Oslo', role: 'tool' },
    ]);
    expect(stored).toMatchObject({
      content: textOf(events),
      status: 'completed',
      toolCalls: [
        { id: 'call-1', name: 'weather', input: { city: 'Oslo' }, output: 'rain in Oslo', status: 'completed' },
      ],
    });
    expect(textOf(events)).toBe('Let me look.\n\nIt rains.');
    expect(endOf(events)).toMatchObject({ result: { message: stored } });
  });

  it('gives the model its result with the provider state, and in later runs without it', async () => {
    const talk = await Talk.start(service, agent);
    during(talk.threadId, { tools: [weather] });
    service.models.next(asksWeather, says('It rains.'), says('Still.'));

    await talk.run('Weather?');
    expect(wire.toolResults(lastBody())).toEqual([{ id: 'call-1', output: 'rain in Oslo', isError: false }]);
    expect(JSON.stringify(lastBody())).toContain('sealed-state');

    await talk.run('And now?');
    expect(wire.toolResults(lastBody())).toEqual([{ id: 'call-1', output: 'rain in Oslo', isError: false }]);
    expect(JSON.stringify(lastBody())).not.toContain('sealed-state');
    expect(JSON.stringify(lastBody())).toContain('Let me look.');
  });

  it('that fails, throws or does not exist is an error that the model reads; the run continues', async () => {
    const talk = await Talk.start(service, agent);
    during(talk.threadId, {
      tools: [
        tool('failing', () => Promise.resolve({ output: 'no such city', isError: true })),
        tool('throwing', () => Promise.reject(new Error('secret-canary'))),
      ],
    });
    service.models.next(
      answers({
        calls: [
          { id: 'a', name: 'failing' },
          { id: 'b', name: 'throwing' },
          { id: 'c', name: 'invented' },
        ],
      }),
      says('Sorry.'),
    );

    const events = await talk.streamed('Go');

    expect(endOf(events)).toMatchObject({ outcome: { type: 'success' } });
    expect(wire.toolResults(lastBody())).toEqual([
      { id: 'a', output: 'no such city', isError: true },
      { id: 'b', output: expect.stringContaining('failed'), isError: true },
      { id: 'c', output: expect.stringContaining('failing, throwing'), isError: true },
    ]);
    const [, stored] = await talk.messages();
    expect(stored?.toolCalls?.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed']);
    const { body: trace } = await service.http('GET', `/v1/agents/${talk.agentId}/messages/${stored?.id ?? ''}/trace`, {
      key: talk.key,
    });
    expect(JSON.stringify([events, stored, lastBody(), trace])).not.toContain('secret-canary');
  });

  it('that is called twice with one id in one answer gives each call its result', async () => {
    const talk = await Talk.start(service, agent);
    during(talk.threadId, { tools: [weather] });
    const both = ['Oslo', 'Rome'].map((city) => ({ id: 'same', name: 'weather', input: { city } }));
    service.models.next(answers({ opaque: 'sealed-state', calls: both }), says('It rains.'), says('Still.'));

    const events = await talk.streamed('Weather?');

    const results = wire.toolResults(lastBody());
    expect(results.map(({ output: text }) => text)).toEqual(['rain in Oslo', 'rain in Rome']);
    expect(new Set(results.map(({ id }) => id)).size).toBe(2);
    for (const { id } of results) expect(JSON.stringify(lastBody()).split(JSON.stringify(id))).toHaveLength(3);
    expect(JSON.stringify(lastBody())).toContain('sealed-state');
    const stored = (await talk.messages()).at(-1)?.toolCalls;
    expect(stored?.map(({ id, output: text }) => [id, text])).toEqual(
      results.map(({ id, output: text }) => [id, text]),
    );
    for (const [nth, { id }] of results.entries()) {
      const written = ofType(events, 'TOOL_CALL_ARGS')
        .filter(({ toolCallId }) => toolCallId === id)
        .map(({ delta }) => String(delta));
      expect(JSON.parse(written.join(''))).toEqual(both[nth]?.input);
    }
    await talk.run('And now?');
    expect(wire.toolResults(lastBody())).toEqual(results);
  });

  it('and texts that are blank are not sent to providers as blank text', async () => {
    const talk = await Talk.start(service, { ...agent, systemPrompt: ' \n ' });
    during(talk.threadId, { tools: [tool('blank', () => output(' \n '))] });
    // Only this provider refuses blank text in its own answers.
    const sealed = wire.api === 'anthropic' ? { opaque: 'sealed-state' } : {};
    service.models.next(
      answers({ ...sealed, text: ' \n ', calls: [{ id: 'b', name: 'blank' }] }),
      says(' \n '),
      says('Back.'),
    );
    const file = {
      name: 'blank.txt',
      url: `data:text/plain;base64,${Buffer.from(' \n ').toString('base64')}`,
      contentType: 'text/plain',
    };
    const read = { role: 'user', content: ' \n ', attachments: [file] };
    expect((await talk.post({ message: read })).body.run.status).toBe('completed');
    expect(wire.toolResults(lastBody())).toMatchObject([{ output: 'The tool returned nothing.' }]);

    expect(await talk.run('Again')).toMatchObject({ status: 200 });

    for (const { body } of service.models.requests) expect(blankTextsIn(body)).toEqual([]);
  });

  it('runs in parallel with the others of its round', async () => {
    const talk = await Talk.start(service, agent);
    const started = new Map<string, () => void>();
    const meet = (name: string, other: string) => {
      const mine = new Promise<void>((resolve) => started.set(name, resolve));
      return {
        mine,
        tool: tool(name, async () => {
          started.get(other)?.();
          await mine;
          return output(`${name} met ${other}`);
        }),
      };
    };
    during(talk.threadId, { tools: [meet('left', 'right').tool, meet('right', 'left').tool] });
    service.models.next(
      answers({
        calls: [
          { id: 'l', name: 'left' },
          { id: 'r', name: 'right' },
        ],
      }),
      says('Done'),
    );

    expect(await talk.run('Go')).toMatchObject({ status: 200 });

    expect(wire.toolResults(lastBody()).map(({ output: text }) => text)).toEqual(['left met right', 'right met left']);
  });

  const unfinished: readonly [string, readonly string[], string][] = [
    ['was cut off with the connection', wire.halfToolCall, 'RUN_ERROR'],
    ['was cut off by the token limit', wire.cutOffToolCall, 'RUN_FINISHED'],
  ];

  it.each(unfinished)('is not called by a call that %s', async (_what, frames, end) => {
    const talk = await Talk.start(service, agent);
    let ran = false;
    during(talk.threadId, {
      tools: [
        tool('look_up', () => {
          ran = true;
          return output('x');
        }),
      ],
    });
    const cut: ModelScript = (exchange) => exchange.sendAll(frames);
    service.models.next(cut, says('Back'));

    const events = await talk.streamed('Go');

    expect(endOf(events).type).toBe(end);
    expect(ran).toBe(false);
    const open = new Set<unknown>();
    for (const { event } of events) {
      expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
      if (event.type === 'TOOL_CALL_START') open.add(event['toolCallId']);
      if (event.type === 'TOOL_CALL_END') open.delete(event['toolCallId']);
    }
    expect([...open]).toEqual([]);
    // When the run completes, every call that was shown has a result.
    const shown = end === 'RUN_ERROR' ? [] : ofType(events, 'TOOL_CALL_START').map(({ toolCallId }) => toolCallId);
    expect(ofType(events, 'TOOL_CALL_RESULT').map(({ toolCallId }) => toolCallId)).toEqual(shown);
    const kept = (await talk.messages())[1]?.toolCalls ?? [];
    expect(kept.map(({ id, status }) => [id, status])).toEqual(shown.map((id) => [id, 'failed']));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    expect(wire.toolResults(lastBody())).toEqual([]);
  });
});

describe('the calls of a run', () => {
  it('are hidden from clients when toolProgress is off; the tools run nevertheless', async () => {
    const talk = await Talk.start(service, { toolProgress: { enabled: false } });
    during(talk.threadId, { tools: [weather] });
    service.models.next(calls('weather', { city: 'Oslo' }), says('It rains.'));

    const events = await talk.streamed('Weather?');

    expect(typesOf(events).filter((type) => type.startsWith('TOOL_CALL'))).toEqual([]);
    expect(textOf(events)).toBe('It rains.');
    const messages = await talk.messages();
    for (const stored of [...messages, endOf(events)['result']]) expect(stored).not.toHaveProperty('toolCalls');
    expect(JSON.stringify(lastBody())).toContain('rain in Oslo');
  });

  it('are stored as running before the first one starts', async () => {
    const talk = await Talk.start(service);
    let seen: unknown;
    during(talk.threadId, {
      tools: [
        tool('look', async () => {
          seen = await talk.messages();
          return output('seen');
        }),
      ],
    });
    service.models.next(answers({ text: 'Wait.', calls: [{ id: 'c', name: 'look' }] }), says('Done'));
    await talk.run('Go');
    expect(seen).toMatchObject([
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: 'Wait.', status: 'incomplete', toolCalls: [{ id: 'c', status: 'running' }] },
    ]);
    expect((await talk.messages())[1]).toMatchObject({ content: 'Wait.\n\nDone', status: 'completed' });
  });

  it('are unknown when the run times out during them; those with a result keep it, and the model reads both in the next run', async () => {
    const talk = await Talk.start(service, { timeoutMinutes: 1 });
    const slow = endlessTool();
    during(talk.threadId, { tools: [weather, slow.offered] });
    const quick = (id: string) => ({ id, name: 'weather', input: { city: 'Oslo' } });
    const asked = [quick('before'), { id: 'slow', name: 'slow' }, quick('after')];
    service.models.next(answers({ text: 'Wait.', calls: asked }));
    const streaming = talk.streamed('Go');
    const signal = await slow.called;
    await clock.advance(60_000);

    const events = await streaming;
    expect(endOf(events)).toMatchObject({ type: 'RUN_ERROR', code: 'run_timeout' });
    expect(ofType(events, 'TOOL_CALL_RESULT').map(({ toolCallId }) => toolCallId)).toEqual(['before', 'after']);
    expect(signal.aborted).toBe(true);
    expect((await talk.messages())[1]).toMatchObject({
      content: 'Wait.',
      status: 'incomplete',
      toolCalls: [
        { id: 'before', status: 'completed' },
        { id: 'slow', status: 'unknown' },
        { id: 'after', status: 'completed' },
      ],
    });
    service.models.next(says('Back'));
    expect(await talk.run('Again')).toMatchObject({ status: 200 });
    const results = PROVIDER_WIRES[0]?.toolResults(lastBody());
    expect(results).toEqual([
      { id: 'before', output: 'rain in Oslo', isError: false },
      { id: 'slow', output: expect.stringContaining('unknown'), isError: true },
      { id: 'after', output: 'rain in Oslo', isError: false },
    ]);
  });

  it('that were under way when the user cancelled have a result that says so to the model', async () => {
    const talk = await Talk.start(service);
    const slow = endlessTool();
    during(talk.threadId, { tools: [slow.offered] });
    service.models.next(answers({ text: 'Wait.', calls: [{ id: 'slow', name: 'slow' }] }), says('Back'));
    const running = talk.run('Go');
    await slow.called;
    const run = await talk.storedRun();
    await service.http('POST', `${talk.path}/runs/${run?.id ?? ''}/cancel`, { key: talk.key });
    expect((await running).body.run.status).toBe('cancelled');
    expect((await talk.messages())[1]?.toolCalls).toMatchObject([{ id: 'slow', status: 'unknown' }]);

    await talk.run('Again');

    const [result] = PROVIDER_WIRES[0]?.toolResults(lastBody()) ?? [];
    expect(result).toMatchObject({
      id: 'slow',
      output: expect.stringContaining('the user cancelled the reply'),
      isError: true,
    });
  });

  it(`run in at most ${TOOL_ROUNDS} rounds; then they are refused, and the run ends with the text so far`, async () => {
    const talk = await Talk.start(service);
    let ran = 0;
    during(talk.threadId, { tools: [tool('again', () => output(String((ran += 1))))] });
    let asked = 0;
    service.models.always((exchange, wire) => {
      asked += 1;
      return exchange.sendAll(
        wire.answer({ text: `Round ${asked}.`, calls: [{ id: `c${asked}`, name: 'again', input: { asked } }] }),
      );
    });

    const events = await talk.streamed('Go');

    expect(endOf(events)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect(ran).toBe(TOOL_ROUNDS);
    expect(asked).toBe(TOOL_ROUNDS + REFUSED_ROUNDS);
    expect(ofType(events, 'TOOL_CALL_RESULT')).toHaveLength(asked);
    const [, stored] = await talk.messages();
    expect(stored?.toolCalls?.slice(TOOL_ROUNDS)).toEqual(
      Array.from({ length: REFUSED_ROUNDS }, () =>
        expect.objectContaining({ status: 'failed', output: expect.stringContaining('not called') }),
      ),
    );
  });

  it('are refused when the same one is repeated with no other call in between', async () => {
    const talk = await Talk.start(service);
    let ran = 0;
    during(talk.threadId, { tools: [tool('again', () => output(String((ran += 1))))] });
    const ask = (index: number) => answers({ calls: [{ id: `c${index}`, name: 'again', input: { same: true } }] });
    service.models.next(...Array.from({ length: SAME_CALLS + 1 }, (_, index) => ask(index)), says('Done'));
    expect(await talk.run('Go')).toMatchObject({ status: 200, body: { message: { content: 'Done' } } });
    expect(ran).toBe(SAME_CALLS);
    expect((await talk.messages())[1]?.toolCalls?.map(({ status }) => status)).toEqual([
      ...Array<string>(SAME_CALLS).fill('completed'),
      'denied',
    ]);
  });

  it('are made when the same one is repeated between other calls, or in one answer', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, {
      tools: [tool('snapshot', () => output('a page')), tool('click', () => output('clicked'))],
    });
    const ask = (name: string, index: number) => calls(name, {}, `${name}-${index}`);
    const browsing = Array.from({ length: SAME_CALLS + 2 }, (_, index) => [
      ask('snapshot', index),
      ask('click', index),
    ]).flat();
    const atOnce = Array.from({ length: SAME_CALLS + 2 }, (_, index) => ({ id: `p${index}`, name: 'snapshot' }));
    service.models.next(...browsing, answers({ calls: atOnce }), says('Done'));
    expect(await talk.run('Go')).toMatchObject({ status: 200, body: { message: { content: 'Done' } } });
    const statuses = (await talk.messages())[1]?.toolCalls?.map(({ status }) => status);
    expect(statuses).toEqual(Array<string>(3 * (SAME_CALLS + 2)).fill('completed'));
  });
});
