import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeUpstream } from '../../support/fake-upstream.js';
import { message, startService, type TestOrganization, type TestService } from '../../support/harness.js';
import { LyingToolServer } from '../../support/lying-tool-server.js';
import { ManualClock } from '../../support/manual-clock.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { calls, says } from '../../support/scripted-models.js';
import { statementsOf } from '../../support/statements.js';
import { createAgent } from './support.js';

/** The clock moves only when a test advances it, so that caches do not expire in between. */
const clock = new ManualClock();

let gateway: FakeUpstream;
let tools: LyingToolServer;
let service: TestService;
let organization: TestOrganization;

beforeAll(async () => {
  gateway = await FakeUpstream.start((exchange) => exchange.sendAll(anthropicWire.text(['ok'])));
  tools = await LyingToolServer.start();
  const environment = { GATEWAY_BASE_URL: gateway.url, EGRESS_ALLOW: new URL(tools.url).host };
  service = await startService({ clock, environment });
});

afterAll(async () => {
  await service.close();
  await gateway.close();
  await tools.close();
});

beforeEach(async () => {
  service.models.reset();
  service.models.always(says('ok'));
  organization = await service.organization('--plan', 'enterprise');
});

function get(path: string) {
  return service.http('GET', path, { key: organization.key });
}

/** Empties all caches except that of the key. */
async function forgetAllButKey(): Promise<void> {
  await clock.advance(5_000);
  await get('/v1/agents?ids=01a1fd52-ba28-712d-ac80-1796bc3828ed');
}

const SETTINGS = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 't' };

describe('the database receives', () => {
  it('at most two statements for reading an agent, and one while the organization is cached', async () => {
    const { id } = await createAgent(service, organization);
    await forgetAllButKey();
    const cold = await statementsOf(service.database, () => get(`/v1/agents/${id}`));
    expect(cold).toEqual([expect.stringContaining('"agents"'), expect.stringContaining('organization_gateways')]);
    const hot = await statementsOf(service.database, () => get(`/v1/agents/${id}`));
    expect(hot).toEqual([expect.stringContaining('"agents"')]);
  });

  it('at most two statements for a list of 1000 agents, and one while the organization is cached', async () => {
    const { id } = await createAgent(service, organization);
    await service.database.query(
      `insert into agents
       select gen_random_uuid(), organization_id, type, name || n, system_prompt, settings, version,
         created_at, updated_at
       from agents, generate_series(1, 999) n where id = $1`,
      [id],
    );
    await forgetAllButKey();
    let listed = 0;
    const list = async (): Promise<void> => {
      listed = (await service.http<{ assistants: unknown[] }>('GET', '/v1/assistants', organization)).body.assistants
        .length;
    };
    expect(await statementsOf(service.database, list)).toHaveLength(2);
    expect(listed).toBe(1000);
    expect(await statementsOf(service.database, list)).toHaveLength(1);
  });

  it.each<[string, (agentId: string) => Promise<unknown>]>([
    ['of the organization', () => service.http('PUT', '/v1/ai-gateway', { key: organization.key, body: SETTINGS })],
    [
      'of the agent',
      (agentId) =>
        service.http('PATCH', `/v1/agents/${agentId}`, { key: organization.key, body: { aiGateway: SETTINGS } }),
    ],
  ])('no further statement for a turn through a gateway %s', async (_whose, set) => {
    const { id } = await createAgent(service, organization);
    const thread = await service.thread(organization.key, id);
    const turn = () =>
      service.http('POST', `/v1/threads/${thread}/runs`, { key: organization.key, body: message('Hi') });
    await turn();
    const direct = await statementsOf(service.database, turn);
    await set(id);
    await turn();
    gateway.requests.length = 0;
    const routed = await statementsOf(service.database, turn);
    expect(gateway.requests).toHaveLength(1);
    expect(routed).toEqual(direct);
  });
});

/** Turns of an agent that has this many integrations. */
async function turnsWith(
  integrations: number,
): Promise<{ turn: () => Promise<unknown>; forgetAgent: () => Promise<void> }> {
  const { id } = await createAgent(service, organization);
  for (let index = 0; index < integrations; index += 1) {
    const body = {
      type: 'custom-mcp',
      app: `Server ${index}`,
      url: `${tools.url}?${index}`,
      transportType: 'streamableHttp',
      auth: { type: 'none' },
    };
    const made = await service.http('POST', `/v1/agents/${id}/tool-integrations`, { key: organization.key, body });
    expect([made.status, made.body]).toMatchObject([201, { status: 'connected' }]);
  }
  const thread = await service.thread(organization.key, id);
  const turn = async (): Promise<void> => {
    const answer = await service.http('POST', `/v1/threads/${thread}/runs`, {
      key: organization.key,
      body: message('Hi'),
    });
    expect(answer).toMatchObject({ status: 200, body: { run: { status: 'completed' } } });
  };
  const forgetAgent = async (): Promise<void> => {
    await forgetAllButKey();
    // The other statements of a turn.
    await get(`/v1/threads/${thread}`);
    await get(`/v1/agents/${id}`);
  };
  return { turn, forgetAgent };
}

const ofIntegrations = (statements: readonly string[]): readonly string[] =>
  statements.filter((sql) => sql.includes('tool_integration'));

describe('for the integrations of an agent the database receives', () => {
  it.each([0, 1, 3])('no statement while they are cached, and one after five seconds: %i', async (count) => {
    const { turn, forgetAgent } = await turnsWith(count);
    await turn();
    const hot = await statementsOf(service.database, turn);
    expect(hot).toHaveLength(2);
    expect(ofIntegrations(hot)).toEqual([]);
    await forgetAgent();
    const cold = await statementsOf(service.database, turn);
    expect(ofIntegrations(cold)).toEqual([expect.stringContaining('tool_integration_agents')]);
    expect(await statementsOf(service.database, turn)).toHaveLength(2);
  });

  it('no statement for a call: a turn with one costs only the writes before tools run, and no connection', async () => {
    const { turn } = await turnsWith(1);
    const call = (): Promise<unknown> => {
      service.models.next(calls('mcp__server-0__echo', { text: 'hi' }), says('done'));
      return turn();
    };
    await call();
    const before = [tools.count('tools/call'), tools.count('initialize'), tools.count('tools/list')];
    const statements = await statementsOf(service.database, call);
    expect(statements).toHaveLength(3);
    expect(ofIntegrations(statements)).toEqual([]);
    expect([tools.count('tools/call'), tools.count('initialize'), tools.count('tools/list')]).toEqual([
      (before[0] ?? 0) + 1,
      ...before.slice(1),
    ]);
  });
});
