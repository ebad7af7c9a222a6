import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { useService, type TestOrganization } from '../../support/harness.js';
import { type AgentBody, createAgent, type ErrorBody, outcome } from './support.js';

const NOT_FOUND = [404, { statusCode: 404, error: 'not_found', message: expect.any(String) }];

const service = useService();
let organization: TestOrganization;
let stranger: TestOrganization;

beforeEach(async () => {
  organization = await service.organization();
  stranger = await service.organization();
});

function get<Body = AgentBody>(path: string, { key }: { readonly key: string } = organization) {
  return service.http<Body>('GET', path, { key });
}

async function listed(ids: readonly string[], caller?: { readonly key: string }): Promise<string[]> {
  const { body } = await get<{ agents: AgentBody[] }>(`/v1/agents?ids=${ids.join(',')}`, caller);
  return body.agents.map(({ id }) => id);
}

async function assistants(query = '', caller?: { readonly key: string }): Promise<string[]> {
  const { body } = await get<{ assistants: AgentBody[] }>(`/v1/assistants${query}`, caller);
  return body.assistants.map(({ name }) => name);
}

async function makeClassic({ id }: AgentBody): Promise<void> {
  await service.database.query(`update agents set type = 'classic' where id = $1`, [id]);
}

describe('GET /v1/agents/{agentId}', () => {
  it('returns the agent with its version as ETag, to a key without capabilities for agents', async () => {
    const made = await createAgent(service, organization, { systemPrompt: 'Be kind.' });
    const chat = await organization.keyWith(['chat']);
    const read = await get(`/v1/agents/${made.id}`, chat);
    expect(outcome(read)).toEqual([200, made]);
    expect(read.headers.get('etag')).toBe('"1"');
  });

  it('accepts any spelling of the id', async () => {
    const { id } = await createAgent(service, organization);
    expect((await get(`/v1/agents/${id.toUpperCase()}`)).body.id).toBe(id);
  });

  it('answers for an agent of another organization as for one that does not exist', async () => {
    const { id } = await createAgent(service, stranger);
    const foreign = await get<ErrorBody>(`/v1/agents/${id}`);
    expect(outcome(foreign)).toEqual(NOT_FOUND);
    expect(foreign.body).toEqual((await get<ErrorBody>(`/v1/agents/${newId()}`)).body);
  });

  it('answers 403 for an agent outside the allowlist', async () => {
    const allowed = await createAgent(service, organization);
    const other = await createAgent(service, organization);
    const scoped = await organization.keyWith(['manageAgents'], [allowed.id]);
    expect((await get(`/v1/agents/${allowed.id}`, scoped)).status).toBe(200);
    const refused = await get<ErrorBody>(`/v1/agents/${other.id}`, scoped);
    expect([refused.status, refused.body.code]).toEqual([403, 'forbidden_by_agent_allowlist']);
  });

  it('refuses an id that is not a UUID', async () => {
    const { status, body } = await get<ErrorBody>('/v1/agents/42');
    expect([status, body.code]).toEqual([400, 'FST_ERR_VALIDATION']);
  });

  it('answers 404 for a classic agent', async () => {
    const classic = await createAgent(service, organization);
    await makeClassic(classic);
    expect(outcome(await get(`/v1/agents/${classic.id}`))).toEqual(NOT_FOUND);
  });
});

describe('GET /v1/agents?ids=', () => {
  it('returns the agents in the order of the ids, each once, and leaves out those that are not visible', async () => {
    const a = await createAgent(service, organization);
    const b = await createAgent(service, organization);
    const c = await createAgent(service, organization);
    const foreign = await createAgent(service, stranger);
    const classic = await createAgent(service, organization);
    await makeClassic(classic);
    const asked = [c.id, foreign.id, a.id.toUpperCase(), newId(), classic.id, b.id, c.id];
    expect(await listed(asked)).toEqual([c.id, a.id, b.id]);
    const scoped = await organization.keyWith(['chat'], [b.id]);
    expect(await listed([a.id, b.id], scoped)).toEqual([b.id]);
  });

  it('returns whole agents', async () => {
    const made = await createAgent(service, organization, { systemPrompt: 'Be kind.' });
    expect(outcome(await get(`/v1/agents?ids=${made.id}`))).toEqual([200, { agents: [made] }]);
  });

  it('accepts 100 ids and refuses 101', async () => {
    const ids = Array.from({ length: 101 }, newId);
    expect(await listed(ids.slice(1))).toEqual([]);
    const { status, body } = await get<ErrorBody>(`/v1/agents?ids=${ids.join(',')}`);
    expect([status, body.code, body.message]).toEqual([400, 'FST_ERR_VALIDATION', expect.stringContaining('ids')]);
  });

  const ID = newId();
  it.each(['', '?ids=', '?ids=,', '?ids=42', `?ids=${ID},`, `?ids=${ID}&ids=${ID}`, `?ids=${ID}&page=2`])(
    'refuses %j',
    async (query) => {
      const { status, body } = await get<ErrorBody>(`/v1/agents${query}`);
      expect([status, body.code]).toEqual([400, 'FST_ERR_VALIDATION']);
    },
  );
});

describe('GET /v1/assistants', () => {
  it('lists every agent that the key can see, of every type, by name and id, without prompts', async () => {
    const made: AgentBody[] = [];
    for (const name of ['b', 'a', 'Z', 'a']) {
      made.push(await createAgent(service, organization, { name, systemPrompt: 's' }));
    }
    await createAgent(service, stranger, { name: 'foreign' });
    const [, first, , second] = made;
    if (!first || !second) throw new Error('Four were made');
    await makeClassic(second);
    const { body } = await get<{ assistants: AgentBody[] }>('/v1/assistants');
    expect(body.assistants.map(({ name }) => name)).toEqual(['Z', 'a', 'a', 'b']);
    expect(body.assistants.slice(1, 3).map(({ id }) => id)).toEqual([first.id, second.id]);
    expect(body.assistants[2]?.provider.type).toBe('classic');
    expect(body.assistants.every((assistant) => !('systemPrompt' in assistant))).toBe(true);
    const { systemPrompt: _, ...expected } = first;
    expect(body.assistants[1]).toEqual(expected);
  });

  it('shows a key with an allowlist only its agents', async () => {
    const { id } = await createAgent(service, organization, { name: 'mine' });
    await createAgent(service, organization, { name: 'other' });
    expect(await assistants('', await organization.keyWith(['chat'], [id]))).toEqual(['mine']);
  });

  it('finds agents by a part of the name, ignoring case and without wildcards', async () => {
    for (const name of ['Ärger GmbH', 'Support 100%', 'support_a', 'Sales']) {
      await createAgent(service, organization, { name });
    }
    expect(await assistants('?name=SUPPORT')).toEqual(['Support 100%', 'support_a']);
    expect(await assistants(`?name=${encodeURIComponent('äRGER')}`)).toEqual(['Ärger GmbH']);
    expect(await assistants('?name=%25')).toEqual(['Support 100%']);
    expect(await assistants('?name=_')).toEqual(['support_a']);
    expect(await assistants('?name=nobody')).toEqual([]);
    expect(await assistants('?name=')).toHaveLength(4);
  });
});
