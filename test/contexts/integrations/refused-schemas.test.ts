import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { IntegrationChecked } from '../../../src/integrations/domain/integrations.events.js';
import { EventBus } from '../../../src/platform/events/index.js';
import { startService, type TestService, until } from '../../support/harness.js';
import { anthropicWire, geminiWire, openaiWire, type ProviderWire } from '../../support/provider-wire.js';
import { type ModelScript, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';
import { connect, customServer, readIntegration } from '../../support/tool-integrations.js';
import { ToolServer } from '../../support/tool-server.js';

const SLOPPY = 'mcp__crm__sloppy';
const PLAIN = { type: 'object', properties: {} };

let service: TestService;
let server: ToolServer;

beforeAll(async () => {
  const inputSchema = { type: 'object' as const, properties: { a: { type: 'string' } } };
  server = await ToolServer.start('streamableHttp', { name: 'good', inputSchema }, { name: 'sloppy', inputSchema });
  service = await startService({ extensions: scriptedRuns, environment: { EGRESS_ALLOW: server.host } });
});
afterAll(async () => {
  await service.close();
  await server.close();
});
beforeEach(() => {
  service.models.reset();
});

type Body = Readonly<Record<string, unknown>>;

interface SentTool {
  readonly name: string;
  readonly input_schema?: object;
  readonly parametersJsonSchema?: object;
  readonly parameters?: object;
}

/** The schemas of a request by the name of the tool, in the order of the request. */
function schemasIn({ tools }: Body): Record<string, unknown> {
  const declared = (tools as (SentTool & { functionDeclarations?: SentTool[] })[]).flatMap(
    (each) => each.functionDeclarations ?? [each],
  );
  return Object.fromEntries(
    declared.map(({ name, input_schema, parametersJsonSchema, parameters }) => [
      name,
      input_schema ?? parametersJsonSchema ?? parameters,
    ]),
  );
}

/** Each provider's refusal of a schema, which names the schema by its position in the request. */
const WORDS = new Map<ProviderWire, (index: number, name: string) => object>([
  [
    anthropicWire,
    (index) => ({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: `tools.${index}.custom.input_schema: JSON schema is invalid (managed-anthropic-key).`,
      },
    }),
  ],
  [
    openaiWire,
    (index, name) => ({
      error: {
        message: `Invalid schema for function '${name}': array schema missing items.`,
        type: 'invalid_request_error',
        param: `tools[${index}].parameters`,
        code: 'invalid_function_parameters',
      },
    }),
  ],
  [
    geminiWire,
    (index) => ({
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: `* GenerateContentRequest.tools[0].function_declarations[${index}].parameters.properties[a].items: missing field.`,
      },
    }),
  ],
]);
const UNTOLD = {
  error: {
    code: 400,
    status: 'INVALID_ARGUMENT',
    message: 'The specified schema produces a constraint that has too many states for serving.',
  },
};

/** Refuses the request because of the schema of the tool `name`. */
function refusesSchemaOf(name: string): ModelScript {
  return (exchange, wire) => {
    const index = Object.keys(schemasIn(exchange.request.body)).indexOf(name);
    exchange.refuse(400, WORDS.get(wire)?.(index, name));
  };
}

const refusesWith =
  (status: number, body: object): ModelScript =>
  (exchange) =>
    exchange.refuse(status, body);

async function withServer(
  wire: ProviderWire,
): Promise<{ talk: Talk; id: string; stated: () => Promise<{ status: string; error: string | null }> }> {
  const talk = await Talk.start(service, { provider: { type: wire.provider, model: wire.model } });
  const { id } = await connect(service, talk, customServer('crm', server));
  return { talk, id, stated: () => readIntegration(service, talk, id) };
}

const sent = (): Record<string, unknown>[] => service.models.requests.map(({ body }) => schemasIn(body));

describe.each([anthropicWire, openaiWire, geminiWire])('a schema that $provider refuses', (wire) => {
  it('is replaced by a plain object; the integration has an error and stays connected until it is checked', async () => {
    const { talk, id, stated } = await withServer(wire);
    service.models.next(refusesSchemaOf(SLOPPY), says('Hello'), says('Again'));

    expect(await talk.run('Hi')).toMatchObject({ status: 200, body: { message: { content: 'Hello' } } });

    const [first, second] = sent();
    expect(Object.keys(second ?? {})).toEqual(Object.keys(first ?? {}));
    expect(second).toEqual({ ...first, [SLOPPY]: PLAIN });
    await until(async () => (await stated()).error !== null, 'the error of the integration');
    const said = await stated();
    expect(said).toMatchObject({
      status: 'connected',
      error: expect.stringContaining('the schema of the tool "sloppy"'),
    });
    expect(said.error).not.toMatch(/managed-\w+-key/);
    expect((await talk.trace()).steps).toMatchObject([
      { type: 'model', error: `The model provider refused the schema of the tool ${SLOPPY}.` },
      { type: 'model', error: null },
    ]);

    // Further runs start with the plain object.
    await (await talk.another()).run('Hi');
    expect(sent()[2]).toEqual(second);

    const checked = await service.http('POST', `/v1/agents/${talk.agentId}/tool-integrations/${id}/test`, {
      key: talk.key,
    });
    expect(checked.body).toMatchObject({ ok: true, error: null });
    expect(await stated()).toMatchObject({ status: 'connected', error: null });
    service.models.next(says('With the schema'));
    await talk.run('Hi');
    expect(sent()[3]).toEqual(first);
    expect(service.models.unexpected).toEqual([]);
  });

  it('does not end the run if the provider then refuses the schema of another tool', async () => {
    const { talk } = await withServer(wire);
    service.models.next(refusesSchemaOf(SLOPPY), refusesSchemaOf('mcp__crm__good'), says('Hello'));

    expect(await talk.run('Hi')).toMatchObject({ status: 200, body: { message: { content: 'Hello' } } });

    const [, second = {}, third = {}] = sent();
    expect([second[SLOPPY], third[SLOPPY], third['mcp__crm__good']]).toEqual([PLAIN, PLAIN, PLAIN]);
    expect(second['mcp__crm__good']).not.toEqual(PLAIN);
  });

  it('ends the run if the plain object is refused too', async () => {
    const { talk } = await withServer(wire);
    service.models.next(refusesSchemaOf(SLOPPY), refusesSchemaOf(SLOPPY));
    expect(await talk.run('Hi')).toMatchObject({
      status: 502,
      body: { code: 'provider_error', message: expect.stringContaining(SLOPPY) },
    });
    expect(service.models.requests).toHaveLength(2);
  });

  it('can be one of many: after a few refusals every tool is sent as a plain object', async () => {
    const talk = await Talk.start(service, { provider: { type: wire.provider, model: wire.model } });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const inputSchema = { type: 'object', properties: { a: { type: 'string' } } };
    const offered = names.map((name) => tool(name, () => output('x')));
    during(talk.threadId, {
      tools: offered.map((one) => ({ ...one, definition: { ...one.definition, inputSchema } })),
    });
    service.models.next(...names.slice(0, 4).map(refusesSchemaOf), says('Hello'));
    expect(await talk.run('Hi')).toMatchObject({ status: 200, body: { message: { content: 'Hello' } } });
    const [, , , fourth = {}, fifth = {}] = sent();
    expect(fourth['f']).not.toEqual(PLAIN);
    for (const name of names) expect(fifth[name]).toEqual(PLAIN);
  });
});

describe('a refusal because of a schema', () => {
  it('without the name of a tool makes every tool a plain object', async () => {
    const { talk, stated } = await withServer(geminiWire);
    service.models.next(refusesWith(400, UNTOLD), says('Hello'));
    expect(await talk.run('Hi')).toMatchObject({ status: 200 });
    const [first = {}, second = {}] = sent();
    expect(Object.keys(second)).toEqual(Object.keys(first));
    for (const schema of Object.values(second)) expect(schema).toEqual(PLAIN);
    await until(
      async () => (await stated()).error?.includes('without saying which') === true,
      'the error of the integration',
    );
  });

  it('of a tool from another source also makes it a plain object', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools: [tool('own', () => output('x'))] });
    service.models.next(refusesSchemaOf('own'), says('Hello'));
    expect(await talk.run('Hi')).toMatchObject({ status: 200 });
    expect(sent()[1]).toMatchObject({ own: PLAIN });
  });

  it('with a status other than 400 is not retried', async () => {
    const { talk, stated } = await withServer(geminiWire);
    service.models.next(refusesWith(422, UNTOLD));
    expect(await talk.run('Hi')).toMatchObject({ status: 502 });
    expect(service.models.requests).toHaveLength(1);
    expect(await stated()).toMatchObject({ status: 'connected', error: null });
  });

  it('ends once a request with the schema succeeds', async () => {
    const { talk, id, stated } = await withServer(openaiWire);
    const refused = (what: string): string =>
      `The model provider (openai-responses) refused the schema of ${what}. It said: no.`;
    const say = (error: string): Promise<unknown> =>
      service.database.query('update tool_integration_states set error = $2 where integration_id = $1', [id, error]);
    // The row as another process stores it: this process does not have the refusal, and sends the schema.
    await say(refused('the tool "sloppy"'));
    service.app.get(EventBus).publish(new IntegrationChecked(talk.organization.id, id, [talk.agentId]));
    service.models.always(says('Hello'));
    await talk.another().then((other) => other.run('Hi'));
    await until(async () => (await stated()).error === null, 'the integration is all right again');
    expect(await stated()).toMatchObject({ status: 'connected', error: null });
  });
});
