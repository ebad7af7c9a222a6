import { beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '../../../src/platform/ids/index.js';
import { message, useService, type TestOrganization } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { type AgentBody, createAgent, outcome } from './support.js';

const service = useService();
let organization: TestOrganization;

beforeEach(async () => {
  organization = await service.organization();
});

function set(id: string, ...options: string[]): Promise<object> {
  return service.cli('agent', 'set', id, ...options);
}

async function newestVersion(id: string): Promise<unknown> {
  const path = `/v1/agents/${id}/versions?limit=1`;
  const { body } = await service.http<{ versions: unknown[] }>('GET', path, { key: organization.key });
  return body.versions[0];
}

describe('agent set', () => {
  it('turns interactive prompts off and on, each a version of the operator', async () => {
    const { id } = await createAgent(service, organization);
    const off = { id, type: 'anthropic', disableInteractivePrompts: true, version: 2 };
    expect(await set(id, '--disable-interactive-prompts', 'true')).toEqual(off);
    expect(await set(id, '--disable-interactive-prompts', 'true')).toEqual(off);
    expect(await newestVersion(id)).toMatchObject({
      version: 2,
      changedBy: { type: 'operator' },
      changes: [{ field: 'disableInteractivePrompts', before: false, after: true }],
    });
    expect(await set(id, '--disable-interactive-prompts', 'false')).toMatchObject({ version: 3 });
  });

  it('refuses what it does not know', async () => {
    const { id } = await createAgent(service, organization);
    await expect(set(id)).rejects.toThrow('nothing to set');
    await expect(set(id, '--type', 'gemini')).rejects.toThrow('must be classic');
    await expect(set(id, '--disable-interactive-prompts', 'yes')).rejects.toThrow('true or false');
    await expect(set('42', '--type', 'classic')).rejects.toThrow('UUID');
    await expect(set(newId(), '--type', 'classic')).rejects.toThrow('no such agent');
  });
});

describe('a classic agent', () => {
  let classic: AgentBody;

  beforeEach(async () => {
    classic = await createAgent(service, organization);
    expect(await set(classic.id, '--type', 'classic')).toMatchObject({ type: 'classic', version: 2 });
  });

  it.each([
    ['GET', '', undefined],
    ['PATCH', '', { name: 'Grace' }],
    ['DELETE', '', undefined],
    ['GET', '/versions', undefined],
    ['POST', '/versions/1/restore', undefined],
    ['PUT', '/provider-key', { apiKey: 'k' }],
    ['GET', '/sections', undefined],
    ['PUT', '/sections', { sections: [] }],
  ])('answers 404 on %s /v1/agents/{agentId}%s', async (method, path, body) => {
    const answer = await service.http(method, `/v1/agents/${classic.id}${path}`, { key: organization.key, body });
    expect(answer.status).toBe(404);
  });

  it('is left out of /v1/agents?ids= and present in /v1/assistants', async () => {
    const { key } = organization;
    expect(outcome(await service.http('GET', `/v1/agents?ids=${classic.id}`, { key }))).toEqual([200, { agents: [] }]);
    const { body } = await service.http<{ assistants: AgentBody[] }>('GET', '/v1/assistants', { key });
    expect(body.assistants).toMatchObject([{ id: classic.id, provider: { type: 'classic' } }]);
  });

  it('holds conversations, on the provider it was made with', async () => {
    const { key } = organization;
    const thread = await service.thread(key, classic.id);
    service.models.next(says('Still here'), says('And again'));
    const run = await service.http('POST', `/v1/threads/${thread}/runs`, { key, body: message('Hello?') });
    expect(run.status).toBe(200);
    expect(run.body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Still here' } });
    const types: string[] = [];
    for await (const { event } of service.stream(`/v1/threads/${thread}/runs/stream`, { key, body: message('Sure?') })) {
      types.push(event.type);
    }
    expect(types.at(-1)).toBe('RUN_FINISHED');
  });

  it('is open to a key whose allowlist holds it, and to no other', async () => {
    const other = await createAgent(service, organization);
    const start = async (agentId: string) => {
      const { key } = await organization.keyWith(['chat'], [agentId]);
      return service.http('POST', '/v1/threads', { key, body: { assistant_id: classic.id } });
    };
    expect((await start(classic.id)).status).toBe(200);
    expect((await start(other.id)).body.code).toBe('forbidden_by_agent_allowlist');
  });
});
