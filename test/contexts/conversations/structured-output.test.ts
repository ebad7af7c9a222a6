import { EventSchema } from '@ag-ui/core/schemas';
import { describe, expect, it, jest } from '@jest/globals';
import { RunLog } from '../../../src/platform/run-log/index.js';
import { approve, ASKS_ALWAYS } from '../../support/approvals.js';
import { type StreamedEvent, useService } from '../../support/harness.js';
import { AGENT_WIRES, anthropicWire } from '../../support/provider-wire.js';
import { answers, breaksOffAfter, calls, type ModelScript, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { sentSystem } from '../../support/sent-system.js';
import { talkWithComponents, WIDGET } from '../response-components/support.js';
import { endOf, Talk, textOf, typesOf } from '../../support/talk.js';

const service = useService({ extensions: scriptedRuns });

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number', minimum: -90 } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};
const FORMAT = { type: 'json_schema', name: 'weather', schema: SCHEMA };
const AS_WEATHER = { responseFormat: FORMAT };
const VALID = '{"city": "Oslo", "degrees": 4}';
const INVALID = '{"city": "Oslo", "degrees": -100}';

const weather = tool('weather', () => output('4 degrees'), 'exempt');

/** Answers with all frames of the wire, but stops for the given reason. */
const stopsFor =
  (reason: string, text: string): ModelScript =>
  (exchange) =>
    exchange.sendAll(anthropicWire.text([text]).map((frame) => frame.replace('end_turn', reason)));

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

function contentsOf(events: readonly StreamedEvent[]): unknown[] {
  return events.filter(({ event }) => event.type === 'TEXT_MESSAGE_CONTENT').map(({ event }) => event['delta']);
}

function lastMessage(): string {
  return JSON.stringify((lastBody()['messages'] as unknown[]).at(-1));
}

describe.each(AGENT_WIRES)('a run with a response format on $provider', (wire) => {
  const start = (): Promise<Talk> => Talk.start(service, { provider: { type: wire.provider, model: wire.model } });

  it('sends the document whole, in one event, and stores exactly it', async () => {
    const talk = await start();
    service.models.next(says('{"city": "Oslo",', ' "degrees": 4}'));

    const events = await talk.streamed('Weather?', AS_WEATHER);

    for (const { event } of events) expect(EventSchema.safeParse(event)).toMatchObject({ success: true });
    expect(typesOf(events)).toEqual([
      ...['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'RUN_FINISHED'],
    ]);
    expect(textOf(events)).toBe(VALID);
    expect((await talk.messages())[1]).toMatchObject({ content: VALID, status: 'completed' });
    expect(JSON.stringify(lastBody())).toContain('"degrees"');
  });

  it('asks once more for a document that does not fit, sends nothing of it, and counts both calls', async () => {
    const talk = await start();
    service.models.next(says(INVALID), says(VALID));

    const events = await talk.streamed('Weather?', AS_WEATHER);

    expect(contentsOf(events)).toEqual([VALID]);
    expect(JSON.stringify(lastBody())).toContain('it /degrees must be at least -90');
    expect(endOf(events)).toMatchObject({ result: { run: { usage: { inputTokens: 22, outputTokens: 14 } } } });
    expect((await talk.trace()).steps).toMatchObject([
      { type: 'model', input: { responseFormat: 'weather' }, output: { text: INVALID } },
      { type: 'model', input: { responseFormat: 'weather' }, output: { text: VALID } },
    ]);
    expect(await talk.lines()).toEqual(['user: Weather?', `assistant: ${VALID}`]);
  });

  it('sends nothing of an invalid document to a repeated request either, once its events are no longer kept', async () => {
    const talk = await start();
    service.models.always(says(INVALID));
    const body = { message: { role: 'user', content: 'Weather?' }, ...AS_WEATHER };
    const named = { 'idempotency-key': 'one' };
    const events = await talk.streamedBody(body, named);

    const read = jest.spyOn(service.app.get(RunLog), 'read').mockResolvedValueOnce(null);
    const repeated = await talk.streamedBody(body, named);
    read.mockRestore();

    expect(typesOf(repeated)).toEqual(['RUN_STARTED', 'RUN_ERROR']);
    expect(endOf(repeated)).toEqual(endOf(events));
  });

  it('fails after a second invalid document, whose text is kept and not sent', async () => {
    const talk = await start();
    service.models.always(says(INVALID));

    const waited = await talk.run('Weather?', AS_WEATHER);
    const events = await talk.streamed('And now?', AS_WEATHER);

    expect(waited.status).toBe(422);
    expect(waited.body).toEqual({
      error: 'unprocessable_entity',
      message: expect.stringContaining('/degrees must be at least -90'),
    });
    expect(typesOf(events)).toEqual(['RUN_STARTED', 'RUN_ERROR']);
    expect(endOf(events)).toMatchObject({ code: 'invalid_structured_output' });
    expect(service.models.requests).toHaveLength(4);
    const [, first] = await talk.messages();
    expect(first).toMatchObject({ content: INVALID, status: 'incomplete' });
    expect((await talk.storedAs(first?.runId ?? '')).body.run).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_structured_output' },
      usage: { inputTokens: 22, outputTokens: 14 },
    });
  });

  it('gives the document after tool calls, without the text before them', async () => {
    const talk = await start();
    during(talk.threadId, { tools: [weather] });
    service.models.next(answers({ text: 'Let me look.', calls: [{ id: 'c1', name: 'weather' }] }), says(VALID));

    const events = await talk.streamed('Weather?', AS_WEATHER);

    expect(contentsOf(events)).toEqual([VALID]);
    expect(JSON.stringify(lastBody())).toContain('Let me look.');
    expect((await talk.messages())[1]).toMatchObject({ content: VALID, toolCalls: [{ status: 'completed' }] });
  });
});

describe('any JSON object', () => {
  it('is asked for in words where the provider has no such mode', async () => {
    const talk = await Talk.start(service);
    service.models.next(says('[1]'), says('{"a": [1]}'));
    const { status, body } = await talk.run('Anything', { responseFormat: { type: 'json_object' } });
    expect([status, body.message?.content]).toEqual([200, '{"a": [1]}']);
    expect(sentSystem(lastBody())).toContain('The document must be a JSON object.');
    expect(lastMessage()).toContain('it is not a JSON object');
    expect(lastBody()).not.toHaveProperty('output_config');
  });
});

describe('an answer', () => {
  it.each([
    ['with text around the document', `Here it is: ${VALID}`, 'it is not JSON, or has other text around it'],
    ['with a Markdown fence', `\`\`\`json\n${VALID}\n\`\`\``, 'it is not JSON, or has other text around it'],
    ['without text', '', 'it is not JSON, or has other text around it'],
    ['that is very deep', '['.repeat(1_000) + ']'.repeat(1_000), 'must not be nested more than 64 levels deep'],
  ])('%s is asked for once more', async (_what, text, problem) => {
    const talk = await Talk.start(service);
    service.models.next(says(text), says(VALID));
    expect(await talk.run('Weather?', AS_WEATHER)).toMatchObject({ body: { message: { content: VALID } } });
    expect(lastMessage()).toContain(problem);
  });

  it('that the token limit cut is invalid even where it is JSON', async () => {
    const talk = await Talk.start(service);
    service.models.next(stopsFor('max_tokens', VALID), says(VALID));
    expect(await talk.run('Weather?', AS_WEATHER)).toMatchObject({ status: 200 });
    expect(lastMessage()).toContain('it was cut off');
  });

  it('that the model refuses fails the run at once', async () => {
    const talk = await Talk.start(service);
    service.models.next(stopsFor('refusal', 'I will not.'));
    const answer = await talk.run<{ message: string }>('Weather?', AS_WEATHER);
    expect([answer.status, answer.body.message]).toEqual([422, 'The model refused to answer in the response format.']);
    expect((await talk.messages())[1]).toMatchObject({ content: 'I will not.', status: 'incomplete' });
    expect(service.models.requests).toHaveLength(1);
  });

  it('that breaks off keeps its text, and sends nothing of it', async () => {
    const talk = await Talk.start(service);
    service.models.next(breaksOffAfter('{"city"'));
    const events = await talk.streamed('Weather?', AS_WEATHER);
    expect(typesOf(events)).toEqual(['RUN_STARTED', 'RUN_ERROR']);
    expect(endOf(events)).toMatchObject({ code: 'provider_error' });
    expect((await talk.messages())[1]).toMatchObject({ content: '{"city"', status: 'incomplete' });
  });

  it('that is never given, for tool calls without end, fails the run', async () => {
    const talk = await Talk.start(service);
    let round = 0;
    during(talk.threadId, { tools: [weather] });
    service.models.always((exchange, wire) => calls('weather', { round }, `c${(round += 1)}`)(exchange, wire));
    expect(await talk.run('Weather?', AS_WEATHER)).toMatchObject({ status: 422 });
    expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'invalid_structured_output' } });
  });
});

describe('a run that resumes one with a response format', () => {
  it('has the format too, and the run that asked has no text', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    during(talk.threadId, { tools: [tool('weather', () => output('4 degrees'))] });
    service.models.next(says(INVALID), answers({ text: 'I will ask.', calls: [{ id: 'c1', name: 'weather' }] }));
    const asked = await talk.run('Weather?', AS_WEATHER);
    expect(asked.body).toMatchObject({ run: { status: 'requires_action' }, message: { content: '' } });

    service.models.next(says(INVALID), says(VALID));
    const [interrupt] = asked.body.interrupts;
    const resumed = await talk.resume(approve(interrupt ?? { id: '' }));

    expect(resumed.body).toMatchObject({ run: { status: 'completed' }, message: { content: VALID } });
    expect(lastBody()).toHaveProperty('output_config.format.schema.properties.degrees');
  });

  it('has its own format where it names one', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    during(talk.threadId, { tools: [tool('weather', () => output('4 degrees'))] });
    service.models.next(calls('weather'), says('{"free": true}'));
    const { interrupts } = (await talk.run('Weather?', AS_WEATHER)).body;
    const resume = interrupts.map(approve);
    const resumed = await talk.post({ resume, responseFormat: { type: 'json_object' } });
    expect(resumed.body.message?.content).toBe('{"free": true}');
  });
});

describe('hooks', () => {
  it('read only valid documents, and one who continues the reply gets another document', async () => {
    const talk = await Talk.start(service);
    const seen: string[] = [];
    const beforeStop = (_run: unknown, text: string) => {
      seen.push(text);
      return Promise.resolve({ decision: 'continue' as const, reason: 'In Bergen.' });
    };
    during(talk.threadId, { hooks: { beforeStop } });
    const bergen = VALID.replace('Oslo', 'Bergen');
    service.models.next(says(VALID), says(INVALID), says(bergen));

    const events = await talk.streamed('Weather?', AS_WEATHER);

    expect(contentsOf(events)).toEqual([bergen]);
    expect(seen).toEqual([VALID, bergen]);
    expect((await talk.messages())[1]?.content).toBe(bergen);
  });

  it('that block the prompt reply with their reason as it is', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, {
      hooks: { beforePrompt: () => Promise.resolve({ decision: 'block', reason: 'Not now.' }) },
    });
    expect((await talk.run('Weather?', AS_WEATHER)).body).toMatchObject({
      run: { status: 'completed' },
      message: { content: 'Not now.', blocked: true },
    });
  });
});

describe('response components', () => {
  it('are not offered to a run with a response format', async () => {
    const talk = await talkWithComponents(service);
    service.models.next(says('Hello'), says(VALID));
    await talk.run('Hi', WIDGET);
    expect(JSON.stringify(lastBody()['tools'])).toContain('present_select');
    await talk.run('Weather?', { ...WIDGET, ...AS_WEATHER });
    expect(JSON.stringify(lastBody())).not.toContain('present_');
  });
});

describe('a response format', () => {
  const long = 'x'.repeat(99_900);

  it.each<[string, unknown, string]>([
    ['of another type', { type: 'text' }, 'body/responseFormat/type must be one of json_schema, json_object'],
    ['with an unknown field', { ...FORMAT, more: 1 }, 'body/responseFormat/more'],
    ['with a schema it has no place for', { type: 'json_object', schema: {} }, 'body/responseFormat/schema'],
    ['without a name', { ...FORMAT, name: undefined }, 'body/responseFormat/name is required'],
    ['with a name of other characters', { ...FORMAT, name: 'a b' }, 'body/responseFormat/name must match'],
    ['with too long a name', { ...FORMAT, name: 'a'.repeat(65) }, 'body/responseFormat/name must match'],
    ['with a schema that is a list', { ...FORMAT, schema: [] }, 'body/responseFormat/schema must be an object'],
    ['with another strict', { ...FORMAT, strict: 'yes' }, 'body/responseFormat/strict must be a boolean'],
    [
      'with too large a schema',
      { ...FORMAT, schema: { description: `${long}${'x'.repeat(100)}` } },
      'body/responseFormat/schema must have at most 100000 characters as JSON',
    ],
    [
      'with an unusable schema',
      { ...FORMAT, schema: { properties: { a: { type: 'text' } } } },
      'body/responseFormat/schema/properties/a/type must be one of string, number,',
    ],
    [
      'that refers to another document',
      { ...FORMAT, schema: { $ref: 'http://127.0.0.1/schema' } },
      'body/responseFormat/schema/$ref must begin with #',
    ],
  ])('%s is refused, and nothing is stored', async (_what, responseFormat, message) => {
    const talk = await Talk.start(service);
    for (const route of ['runs', 'runs/stream']) {
      const body = { message: { role: 'user', content: 'Hi' }, responseFormat };
      const answer = await service.http('POST', `${talk.path}/${route}`, { key: talk.key, body });
      expect([answer.status, answer.body['code']]).toEqual([400, 'FST_ERR_VALIDATION']);
      expect(answer.body['message']).toContain(message);
    }
    expect(await talk.messages()).toEqual([]);
    expect(service.models.requests).toEqual([]);
  });

  it('of 100,000 characters is taken', async () => {
    const talk = await Talk.start(service);
    service.models.next(says(VALID));
    const schema = { ...SCHEMA, description: '👋'.repeat(50_000) };
    expect(await talk.run('Weather?', { responseFormat: { ...FORMAT, schema } })).toMatchObject({ status: 200 });
  });

  it.each([
    ['anthropic', { type: 'invalid_request_error', message: 'output_config.format.schema: too many states' }],
    [
      'openai-responses',
      {
        message: "Invalid schema for response_format 'weather': no",
        param: 'text.format.schema',
        code: 'invalid_json_schema',
      },
    ],
    ['gemini', { code: 400, message: 'The specified schema produces a constraint that has too many states' }],
  ])('that %s refuses fails the run with the reason, and the schemas of tools stay', async (type, error) => {
    const talk = await Talk.start(service, { provider: { type } });
    during(talk.threadId, { tools: [weather] });
    service.models.always((exchange) => exchange.refuse(400, { error }));

    const waited = await talk.run<{ message: string }>('Weather?', AS_WEATHER);

    expect([waited.status, waited.body.message]).toEqual([422, expect.stringContaining(error.message)]);
    expect(await talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'invalid_response_format' } });
    const events = await talk.streamed('Weather?', AS_WEATHER);
    expect(endOf(events)).toMatchObject({ type: 'RUN_ERROR', code: 'invalid_response_format' });
  });

  it('does not hide that a tool has a schema that the provider refuses', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools: [weather] });
    const message = 'tools.0.custom.input_schema: JSON schema is invalid.';
    service.models.next((exchange) => exchange.refuse(400, { error: { type: 'invalid_request_error', message } }));
    service.models.next(says(VALID));
    expect(await talk.run('Weather?', AS_WEATHER)).toMatchObject({ status: 200 });
  });

  it('counts as part of a request with an idempotency key', async () => {
    const talk = await Talk.start(service);
    service.models.next(says(VALID));
    const key = { 'idempotency-key': 'one' };
    const body = { message: { role: 'user', content: 'Weather?' }, ...AS_WEATHER };
    expect(await talk.post(body, key)).toMatchObject({ status: 200 });
    expect(await talk.post({ ...body, responseFormat: { type: 'json_object' } }, key)).toMatchObject({ status: 422 });
  });
});
