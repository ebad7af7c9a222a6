import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { IntegrationGrants } from '../../../src/integrations/oauth/integration-grants.js';
import { newId } from '../../../src/platform/ids/index.js';
import { LOCAL_APP, useAppCatalogue } from '../../support/app-catalogue.js';
import { type Answer, type TestService, useService } from '../../support/harness.js';
import { type Body, customMcp, Integrations, NO_ROWS, workflow } from './support.js';

const service = useService({ environment: useAppCatalogue() });
let replica: TestService;
let integrations: Integrations;

beforeAll(async () => {
  replica = await service.replica();
});
afterAll(() => replica.close());
beforeEach(async () => {
  integrations = await Integrations.start(service);
});

function post(at: TestService, agentId: string, body: Body): Promise<Answer> {
  return at.http('POST', `/v1/agents/${agentId}/tool-integrations`, { key: integrations.organization.key, body });
}

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort();

async function revision(id: string): Promise<number | undefined> {
  const [row] = await service.database.query<{ revision: number }>(
    'select revision from tool_integrations where id = $1',
    [id],
  );
  return row?.revision;
}

/** Several of each, on both processes. */
function atOnce<Result>(times: number, work: (at: TestService, index: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: times }, (_none, index) => work(index % 2 === 0 ? service : replica, index)));
}

describe('integrations that two processes create concurrently', () => {
  it('become one integration of one agent', async () => {
    for (const body of [customMcp(), workflow(), { type: 'managed-mcp', app: LOCAL_APP.slug }]) {
      const answers = await atOnce(6, (at) => post(at, integrations.agentId, body));
      expect(statuses(answers)).toEqual([201, 409, 409, 409, 409, 409]);
    }
    expect(await integrations.rows()).toMatchObject({ tool_integrations: 3, tool_integration_agents: 3 });
  });

  it('become one record of two agents if they agree', async () => {
    const agents = [integrations.agentId, integrations.otherAgentId];
    const answers = await atOnce(2, (at, index) => post(at, agents[index] ?? '', customMcp()));
    expect(statuses(answers)).toEqual([201, 201]);
    expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1);
    expect(await integrations.rows()).toMatchObject({ tool_integrations: 1, tool_integration_agents: 2, secrets: 1 });
  });

  it('become one record if they do not agree, with the secret of the first request', async () => {
    const agents = [integrations.agentId, integrations.otherAgentId];
    const body = (value: string): Body => customMcp({ httpHeaders: { 'X-Key': { type: 'secret', value } } });
    const answers = await atOnce(2, (at, index) => post(at, agents[index] ?? '', body(`value-${index}`)));
    expect(statuses(answers)).toEqual([201, 409]);
    const winner = answers.findIndex(({ status }) => status === 201);
    expect((await post(service, agents[1 - winner] ?? '', body(`value-${winner}`))).status).toBe(201);
  });

  it('are limited to fifty per agent', async () => {
    for (let count = 0; count < 48; count += 1) await integrations.created(workflow({ nameSlug: `w${count}` }));
    const answers = await atOnce(6, (at, index) => post(at, integrations.agentId, workflow({ nameSlug: `x${index}` })));
    expect(statuses(answers)).toEqual([201, 201, 422, 422, 422, 422]);
    expect(await integrations.rows()).toMatchObject({ tool_integrations: 50, tool_integration_agents: 50 });
  });
});

describe('concurrent writes of one integration by two processes', () => {
  it('are serialized: no change is lost, and settings and secret come from the same request', async () => {
    const { id } = await integrations.created(customMcp());
    const body = (index: number): Body =>
      customMcp({
        excludedTools: [`value-${index}`],
        httpHeaders: { 'X-Key': { type: 'secret', value: `value-${index}` } },
      });
    const put = (at: TestService, index: number): Promise<Answer> =>
      at.http('PUT', `/v1/agents/${integrations.agentId}/tool-integrations/${id}`, {
        key: integrations.organization.key,
        body: body(index),
      });
    const answers = await atOnce(6, put);
    expect(statuses(answers)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await revision(id)).toBe(7);
    const [last = ''] = (await integrations.read(id)).body.excludedTools;
    const same = body(Number(last.slice(-1)));
    expect((await integrations.create(same, { agentId: integrations.otherAgentId })).status).toBe(201);
  });

  it('leave nothing of a removed integration when some change it and others remove it', async () => {
    const { agentId, otherAgentId, organization } = integrations;
    for (let round = 0; round < 4; round += 1) {
      const { id } = await integrations.created(customMcp());
      await integrations.created(customMcp(), { agentId: otherAgentId });
      const answers = await atOnce(6, (at, index) =>
        at.http(
          index < 4 ? 'PUT' : 'DELETE',
          `/v1/agents/${index % 2 === 0 ? agentId : otherAgentId}/tool-integrations/${id}`,
          {
            key: organization.key,
            ...(index < 4 ? { body: customMcp({ excludedTools: [`${index}`] }) } : {}),
          },
        ),
      );
      for (const { status } of answers) expect([200, 204, 404]).toContain(status);
      expect(await integrations.rows()).toEqual(NO_ROWS);
    }
  });

  it('attach and detach it completely', async () => {
    const { agentId, otherAgentId, organization } = integrations;
    for (let round = 0; round < 4; round += 1) {
      const { id } = await integrations.created(customMcp());
      const [attached, removed] = await Promise.all([
        post(replica, otherAgentId, customMcp()),
        service.http('DELETE', `/v1/agents/${agentId}/tool-integrations/${id}`, { key: organization.key }),
      ]);
      expect([attached.status, removed.status]).toEqual([201, 204]);
      expect(await integrations.rows()).toMatchObject({ tool_integrations: 1, tool_integration_agents: 1, secrets: 1 });
      await integrations.remove(String(attached.body['id']), { agentId: otherAgentId });
      expect(await integrations.rows()).toEqual(NO_ROWS);
    }
  });
});

describe('a refresh of tokens', () => {
  it('is claimed by one process for thirty seconds, even if its clock is ahead or behind', async () => {
    const { id: integrationId } = await integrations.created(customMcp({ auth: { type: 'oauth' } }));
    const owner = { organizationId: integrations.organization.id, id: integrationId };
    const grants = service.app.get(IntegrationGrants, { strict: false });
    const [start, generation] = [new Date('2026-01-01'), newId()];
    const grant = {
      organizationId: owner.organizationId,
      ownerId: owner.id,
      serverUrl: 'https://a.test',
      issuer: 'https://a.test',
      status: 'authorized' as const,
      scope: null,
      neededScope: null,
    };
    const times = {
      version: newId(),
      generation,
      receivedAt: start,
      updatedAt: start,
      expiresAt: null,
      refreshAt: start,
    };
    await service.database.transaction((transaction) =>
      grants.put(transaction, { ...grant, ...times }, { tokens: { accessToken: 'token' } }),
    );
    const claimAt = (seconds: number): Promise<boolean> => {
      const now = new Date(start.getTime() + seconds * 1_000);
      return service.database.transaction((transaction) =>
        grants.claim(transaction, { ...owner, generation, lease: newId() }, now),
      );
    };
    expect([await claimAt(0), await claimAt(0), await claimAt(-25), await claimAt(29)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(await claimAt(31)).toBe(true);
    // So far in the future that its clock must have been set back since.
    expect(await claimAt(-3_600)).toBe(true);
  });
});
