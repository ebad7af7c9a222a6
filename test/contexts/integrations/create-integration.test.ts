import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { LOCAL_APP, OAUTH_APP, useAppCatalogue } from '../../support/app-catalogue.js';
import { useService } from '../../support/harness.js';
import { type Body, customMcp, Integrations, NO_ROWS, SECRET, SERVER, workflow } from './support.js';

const TEXT = expect.any(String);
const service = useService({ environment: useAppCatalogue() });
let integrations: Integrations;

beforeEach(async () => {
  integrations = await Integrations.start(service);
});

const STATE = {
  status: expect.stringMatching(/^(connected|needs_authorization|error)$/),
  tools: [],
  createdAt: TEXT,
  updatedAt: TEXT,
};

describe('a new tool integration', () => {
  it('of a custom server belongs to the organization, and is returned as it was sent, without its secrets', async () => {
    const { type, app, url, transportType, auth } = customMcp();
    const made = await integrations.create(customMcp());
    expect([made.status, made.body]).toEqual([
      201,
      {
        ...{
          id: TEXT,
          type,
          app,
          url,
          transportType,
          auth,
          scope: 'organization',
          excludedTools: ['delete_ticket'],
          ...STATE,
        },
        httpHeaders: {
          'X-Key': { type: 'vault', keyName: 'header.x-key' },
          'X-Team': { type: 'plain_text', value: 'support' },
        },
        error: TEXT,
      },
    ]);
    expect((await integrations.read(made.body.id)).body).toEqual(made.body);
    expect((await integrations.list()).body).toEqual({ integrations: [made.body] });
    expect((await integrations.list({ agentId: integrations.otherAgentId })).body).toEqual({ integrations: [] });
  });

  it('needs neither headers nor excluded tools', async () => {
    const made = await integrations.create({
      ...customMcp({ auth: { type: 'none' } }),
      httpHeaders: undefined,
      excludedTools: undefined,
    });
    expect(made.body).toMatchObject({ auth: { type: 'none' }, httpHeaders: {}, excludedTools: [] });
  });

  it('of a workflow belongs to the organization', async () => {
    const made = await integrations.create(workflow({ authType: null }));
    expect([made.status, made.body]).toEqual([
      201,
      {
        ...{
          id: TEXT,
          type: 'workflow-platform',
          nameSlug: 'onboarding',
          authType: null,
          scope: 'organization',
          ...STATE,
        },
        ...{ excludedTools: [], error: TEXT },
      },
    ]);
  });

  it('of a managed app belongs to the agent, so that another agent can have the same app', async () => {
    const { slug, envName: name } = LOCAL_APP;
    const body = { type: 'managed-mcp', app: slug, secrets: { envMap: { [name]: SECRET } } };
    const made = await integrations.create(body);
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        type: 'managed-mcp',
        app: slug,
        scope: 'agent',
        secrets: { envMap: { [name]: { type: 'vault', keyName: `env.${name}` } } },
      },
    ]);
    expect((await integrations.create(body)).status).toBe(409);
    const other = await integrations.created(
      { type: 'managed-mcp', app: slug },
      { agentId: integrations.otherAgentId },
    );
    expect(other.id).not.toBe(made.body.id);
  });

  it('stores repeated excluded tools once', async () => {
    const made = await integrations.created(customMcp({ excludedTools: ['b', 'a', 'b'] }));
    expect(made.excludedTools).toEqual(['a', 'b']);
  });

  it('is tested on demand, and an unreachable server is no HTTP error', async () => {
    const { id } = await integrations.created(customMcp());
    const tested = await integrations.test(id);
    expect([tested.status, tested.body]).toEqual([
      200,
      { ok: false, latencyMs: expect.any(Number), tools: 0, error: TEXT },
    ]);
  });

  it('is refused if the agent has fifty', async () => {
    for (let count = 0; count < 50; count += 1) await integrations.created(workflow({ nameSlug: `w${count}` }));
    const refused = await integrations.create(workflow({ nameSlug: 'w50' }));
    expect([refused.status, refused.body]).toEqual([
      422,
      { statusCode: 422, error: 'unprocessable_entity', message: expect.stringContaining('50') },
    ]);
    expect(await integrations.rows()).toMatchObject({ tool_integrations: 50, tool_integration_agents: 50 });
    expect((await integrations.create(workflow({ nameSlug: 'w0' }))).status).toBe(409);
  });

  it('is refused for an agent that does not exist', async () => {
    expect((await integrations.create(workflow(), { agentId: newId() })).status).toBe(404);
    const stranger = await service.organization();
    expect((await integrations.create(workflow(), { key: stranger.key })).status).toBe(404);
    expect(await integrations.rows()).toEqual(NO_ROWS);
  });
});

const PLAIN = { type: 'plain_text', value: 'x' };
/** `count` different names, each with this value. */
const many = <Value>(count: number, value: Value): Readonly<Record<string, Value>> =>
  Object.fromEntries(Array.from({ length: count }, (_none, index) => [`X-${index}`, value]));
const header = (name: string, value: unknown = PLAIN): Body =>
  customMcp({ auth: { type: 'none' }, httpHeaders: { [name]: value } });

describe('an invalid tool integration', () => {
  it.each<[string, string, Body | undefined]>([
    ['no body', 'type', undefined],
    ['no type', 'type', { app: 'x' }],
    ['an unknown type', 'type', { ...customMcp(), type: 'other' }],
    ['an unknown field', 'colour', customMcp({ colour: 'red' })],
    ['a field of another type', 'nameSlug', customMcp({ nameSlug: 'x' })],
    ['a field that is read only', 'status', customMcp({ status: 'connected' })],
    ['an empty label', 'app', customMcp({ app: '' })],
    ['a label that is too long', 'app', customMcp({ app: 'x'.repeat(256) })],
    ['no address', 'url', customMcp({ url: undefined })],
    ['a relative address', 'url', customMcp({ url: '/mcp' })],
    ['another protocol', 'url', customMcp({ url: 'ftp://example.com/mcp' })],
    ['a user in the address', 'url', customMcp({ url: 'https://canary-user:canary-pass@example.com/mcp' })],
    ['a long address', 'url', customMcp({ url: `https://example.com/${'x'.repeat(2_030)}` })],
    ['an unknown transport', 'transportType', customMcp({ transportType: 'stdio' })],
    ['no auth', 'auth', customMcp({ auth: undefined })],
    ['an unknown auth', 'auth/type', customMcp({ auth: { type: 'basic' } })],
    ['auth with too much', 'auth/headerKey', customMcp({ auth: { type: 'none', headerKey: 'X-Key' } })],
    ['static auth without a header', 'auth/headerKey', customMcp({ auth: { type: 'static', headerKey: 'X-Other' } })],
    [
      'an authorization header with OAuth',
      'httpHeaders/AUTHORIZATION',
      { ...header('AUTHORIZATION'), auth: { type: 'oauth' } },
    ],
    ['headers in a list', 'httpHeaders', customMcp({ httpHeaders: [] })],
    ['a header that is text', 'httpHeaders/X-Key', header('X-Key', 'x')],
    ['a header of no type', 'httpHeaders/X-Key/type', header('X-Key', { value: 'x' })],
    ['a header that is kept where nothing is', 'httpHeaders/X-Key/type', header('X-Key', { type: 'vault' })],
    ['a header with too much', 'httpHeaders/X-Key/note', header('X-Key', { type: 'secret', value: SECRET, note: 'x' })],
    ['an empty header', 'httpHeaders/X-Key/value', header('X-Key', { type: 'secret', value: '' })],
    [
      'two lines in a header',
      'httpHeaders/X-Key/value',
      header('X-Key', { type: 'secret', value: `${SECRET}\r\nx: y` }),
    ],
    ['a header beyond Latin-1', 'httpHeaders/X-Key/value', header('X-Key', { type: 'plain_text', value: 'łódź' })],
    ['a long header', 'httpHeaders/X-Key/value', header('X-Key', { type: 'plain_text', value: 'x'.repeat(8_193) })],
    ['a header name with a blank', 'httpHeaders/X Key', header('X Key')],
    ['an empty header name', 'httpHeaders/', header('')],
    ['names that differ by case', 'httpHeaders/x-key', customMcp({ httpHeaders: { 'X-Key': PLAIN, 'x-key': PLAIN } })],
    ['too many headers', 'httpHeaders', customMcp({ httpHeaders: many(51, PLAIN) })],
    ['a long name of a tool', 'excludedTools', customMcp({ excludedTools: ['x'.repeat(129)] })],
    ['an empty name of a tool', 'excludedTools', customMcp({ excludedTools: [''] })],
    ['too many excluded tools', 'excludedTools', customMcp({ excludedTools: Object.keys(many(1_001, null)) })],
    ['a slug with a blank', 'nameSlug', workflow({ nameSlug: 'a b' })],
    ['a long slug', 'nameSlug', workflow({ nameSlug: 'x'.repeat(101) })],
    ['no authType', 'authType', workflow({ authType: undefined })],
    ['an unknown authType', 'authType', workflow({ authType: 'basic' })],
    ['an app that is not in the catalogue', 'app', { type: 'managed-mcp', app: 'no-such-app' }],
    ['secrets without a map', 'secrets/envMap', { type: 'managed-mcp', app: 'x', secrets: {} }],
  ])('is refused: %s', async (_what, field, body) => {
    const refused = await integrations.create(body);
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        statusCode: 400,
        code: 'FST_ERR_VALIDATION',
        error: 'bad_request',
        message: expect.stringContaining(`body/${field}`),
      },
    ]);
    expect(refused.text).not.toContain('canary');
    expect(await integrations.rows()).toEqual(NO_ROWS);
  });

  it.each([
    ...[
      'Host',
      'content-length',
      'Connection',
      'transfer-encoding',
      'TE',
      'trailer',
      'upgrade',
      'expect',
      'Content-Type',
    ],
    ...['accept', 'Mcp-Session-Id', 'mcp-protocol-version', 'last-event-id', 'Proxy-Authorization'],
    ...['Accept-Encoding', 'Keep-Alive', 'Http2-Settings', 'mcp-method', 'Mcp-Name'],
  ])('is refused: the header %s', async (name) => {
    const refused = await integrations.create(header(name));
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { message: expect.stringContaining(`body/httpHeaders/${name} `) },
    ]);
  });

  it('is refused: undeclared or empty environment variables, and all variables of a remote OAuth app', async () => {
    const { slug, envName } = LOCAL_APP;
    const managed = (app: string, envMap: Body): Body => ({ type: 'managed-mcp', app, secrets: { envMap } });
    const cases: [Body, string][] = [
      [managed(slug, { NO_SUCH_NAME: SECRET }), 'body/secrets/envMap/NO_SUCH_NAME'],
      [managed(slug, { [envName]: '' }), `body/secrets/envMap/${envName}`],
      [managed(slug, { [envName]: 'x'.repeat(8_193) }), `body/secrets/envMap/${envName}`],
      [managed(OAUTH_APP.slug, {}), 'body/secrets'],
    ];
    for (const [body, field] of cases) {
      const refused = await integrations.create(body);
      expect([refused.status, refused.body]).toMatchObject([
        400,
        { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(field) },
      ]);
      expect(refused.text).not.toContain(SECRET);
    }
    expect(await integrations.rows()).toEqual(NO_ROWS);
    expect((await integrations.create({ type: 'managed-mcp', app: OAUTH_APP.slug })).status).toBe(201);
  });

  it('can have headers with the names of JavaScript properties', async () => {
    const httpHeaders = { constructor: PLAIN, toString: PLAIN };
    const body = customMcp({ auth: { type: 'none' }, httpHeaders });
    const made = await integrations.created(body);
    expect(made.httpHeaders).toEqual(httpHeaders);
    expect((await integrations.read(made.id)).body).toEqual(made);
    expect((await integrations.create(body, { agentId: integrations.otherAgentId })).status).toBe(201);
  });

  it('can have every valid header name and value', async () => {
    const httpHeaders = {
      Authorization: { type: 'secret', value: `Bearer ${SECRET}` },
      "!#$%&'*+.^_`|~9": { type: 'plain_text', value: 'blue\tgr\u00fcn yellow' },
      __proto__x: { type: 'plain_text', value: 'x' },
    };
    const made = await integrations.created(
      customMcp({ url: `${SERVER}?a=b#c`, auth: { type: 'static', headerKey: 'authorization' }, httpHeaders }),
    );
    expect(made).toMatchObject({
      auth: { type: 'static', headerKey: 'Authorization' },
      httpHeaders: { ...httpHeaders, Authorization: { type: 'vault', keyName: 'header.authorization' } },
    });
  });
});
