import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeUpstream } from '../../support/fake-upstream.js';
import { message, startService, type TestOrganization, type TestService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { says } from '../../support/scripted-models.js';
import { statementsOf } from '../../support/statements.js';
import { createAgent } from './support.js';

/** Nothing grows old in between unless a test says so. */
const clock = new ManualClock();

let gateway: FakeUpstream;
let service: TestService;
let organization: TestOrganization;

beforeAll(async () => {
  gateway = await FakeUpstream.start((exchange) => exchange.sendAll(anthropicWire.text(['ok'])));
  service = await startService({ clock, environment: { GATEWAY_BASE_URL: gateway.url } });
});

afterAll(async () => {
  await service.close();
  await gateway.close();
});

beforeEach(async () => {
  service.models.reset();
  service.models.always(says('ok'));
  organization = await service.organization('--plan', 'enterprise');
});

function get(path: string) {
  return service.http('GET', path, { key: organization.key });
}

/** The key is remembered, and nothing else. */
async function forgetAllButKey(): Promise<void> {
  await clock.advance(5_000);
  await get('/v1/agents?ids=01a1fd52-ba28-712d-ac80-1796bc3828ed');
}

const SETTINGS = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 't' };

describe('the database is sent', () => {
  it('at most two statements for an agent that is read, and one while the organization is known', async () => {
    const { id } = await createAgent(service, organization);
    await forgetAllButKey();
    const cold = await statementsOf(service.database, () => get(`/v1/agents/${id}`));
    expect(cold).toEqual([expect.stringContaining('"agents"'), expect.stringContaining('organization_gateways')]);
    const hot = await statementsOf(service.database, () => get(`/v1/agents/${id}`));
    expect(hot).toEqual([expect.stringContaining('"agents"')]);
  });

  it('at most two statements for a list of 1000 agents, and one while the organization is known', async () => {
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
      listed = (await service.http<{ assistants: unknown[] }>('GET', '/v1/assistants', organization)).body.assistants.length;
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
  ])('nothing more for a turn that goes through a gateway %s', async (_whose, set) => {
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
