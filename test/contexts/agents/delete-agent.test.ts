import { beforeEach, describe, expect, it } from '@jest/globals';
import { message, useService, type TestOrganization, until } from '../../support/harness.js';
import { createAgent, type ErrorBody, outcome } from './support.js';

const NOT_FOUND = [404, { statusCode: 404, error: 'not_found', message: expect.any(String) }];

const service = useService();
let organization: TestOrganization;

beforeEach(async () => {
  organization = await service.organization();
});

function remove(id: string, { key }: { readonly key: string } = organization) {
  return service.http<ErrorBody>('DELETE', `/v1/agents/${id}`, { key });
}

async function rowsOf(id: string): Promise<number> {
  const rows = await service.database.query(
    `select id from agents where id = $1
     union all select record_id from secrets where record_id = $1
     union all select id from threads where agent_id = $1`,
    [id],
  );
  return rows.length;
}

describe('DELETE /v1/agents/{agentId}', () => {
  it('removes the agent with its secrets and conversations at once', async () => {
    const provider = { type: 'gemini', useOwnApiKey: true, apiKey: 'sk-own' };
    const { id } = await createAgent(service, organization, { provider });
    const thread = await service.thread(organization.key, id);
    expect(await rowsOf(id)).toBe(3);
    expect(outcome(await remove(id))).toEqual([200, { id, deleted: true }]);
    const { key } = organization;
    expect((await service.http('GET', `/v1/agents/${id}`, { key })).status).toBe(404);
    const run = await service.http('POST', `/v1/threads/${thread}/runs`, { key, body: message('Hello?') });
    expect(run.status).toBe(404);
    expect(outcome(await remove(id))).toEqual(NOT_FOUND);
    await until(async () => (await rowsOf(id)) === 0, 'a job has removed the conversations');
  });

  it('keeps every other agent and its secrets', async () => {
    const provider = { type: 'gemini', useOwnApiKey: true, apiKey: 'sk-own' };
    const deleted = await createAgent(service, organization);
    const kept = await createAgent(service, organization, { provider });
    await remove(deleted.id);
    expect(await rowsOf(kept.id)).toBe(2);
  });

  it('keeps an agent of another organization, and answers as if it did not exist', async () => {
    const stranger = await service.organization();
    const { id } = await createAgent(service, stranger);
    expect(outcome(await remove(id))).toEqual(NOT_FOUND);
    expect(await rowsOf(id)).toBe(1);
  });

  it('needs manageAgents, and the agent in an allowlist', async () => {
    const agent = await createAgent(service, organization);
    const other = await createAgent(service, organization);
    const reader = await organization.keyWith(['chat']);
    const scoped = await organization.keyWith(['manageAgents'], [other.id]);
    expect((await remove(agent.id, reader)).body.code).toBe('forbidden_by_key_role');
    expect((await remove(agent.id, scoped)).body.code).toBe('forbidden_by_agent_allowlist');
    expect(await rowsOf(agent.id)).toBe(1);
    expect((await remove(other.id, scoped)).status).toBe(200);
  });
});
