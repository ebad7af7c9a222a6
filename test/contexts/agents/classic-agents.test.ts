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
  it('switches interactive prompts off and on, each as a version of the operator', async () => {
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

  it('refuses unknown values', async () => {
    const { id } = await createAgent(service, organization);
    await expect(set(id)).rejects.toThrow('nothing to set');
    await expect(set(id, '--type', 'gemini')).rejects.toThrow('must be classic or standard');
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
    ['GET', '/versions', undefined],
    ['POST', '/versions/1/restore', undefined],
    ['PUT', '/provider-key', { apiKey: 'k' }],
    ['GET', '/sections', undefined],
    ['PUT', '/sections', { sections: [] }],
    ['GET', '/analytics/feedback', undefined],
  ])('answers 404 on %s /v1/agents/{agentId}%s', async (method, path, body) => {
    const answer = await service.http(method, `/v1/agents/${classic.id}${path}`, { key: organization.key, body });
    expect(answer.status).toBe(404);
  });

  it('is not in /v1/agents?ids=, and is in /v1/assistants', async () => {
    const { key } = organization;
    expect(outcome(await service.http('GET', `/v1/agents?ids=${classic.id}`, { key }))).toEqual([200, { agents: [] }]);
    const { body } = await service.http<{ assistants: AgentBody[] }>('GET', '/v1/assistants', { key });
    expect(body.assistants).toMatchObject([{ id: classic.id, provider: { type: 'classic' } }]);
  });

  it('has conversations, on the provider that it was created with', async () => {
    const { key } = organization;
    const thread = await service.thread(key, classic.id);
    service.models.next(says('Still here'), says('And again'));
    const run = await service.http('POST', `/v1/threads/${thread}/runs`, { key, body: message('Hello?') });
    expect(run.status).toBe(200);
    expect(run.body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Still here' } });
    const types: string[] = [];
    for await (const { event } of service.stream(`/v1/threads/${thread}/runs/stream`, {
      key,
      body: message('Sure?'),
    })) {
      types.push(event.type);
    }
    expect(types.at(-1)).toBe('RUN_FINISHED');
  });

  it('has traces, in the list, by themselves, by message and in the export', async () => {
    const { key } = organization;
    const thread = await service.thread(key, classic.id);
    service.models.next(says('Still here'));
    const run = await service.http<{ message: { id: string } }>('POST', `/v1/threads/${thread}/runs`, {
      key,
      body: message('Hello?'),
    });
    const at = `/v1/agents/${classic.id}`;
    const list = await service.http<{ traces: { id: string }[] }>('GET', `${at}/traces`, { key });
    expect(list.body.traces).toMatchObject([{ threadId: thread, output: 'Still here' }]);
    const one = await service.http('GET', `${at}/traces/${list.body.traces[0]?.id ?? ''}`, { key });
    expect([one.status, one.body.input]).toEqual([200, 'Hello?']);
    expect((await service.http('GET', `${at}/messages/${run.body.message.id}/trace`, { key })).body).toEqual(one.body);
    const exported = await service.http('GET', `${at}/traces/export`, { key });
    expect(outcome(exported)).toEqual([200, { traces: [], meta: { cursor: null } }]);
  });

  it('is deleted like any other agent', async () => {
    const { key } = organization;
    const thread = await service.thread(key, classic.id);
    expect(outcome(await service.http('DELETE', `/v1/agents/${classic.id}`, { key }))).toEqual([
      200,
      { id: classic.id, deleted: true },
    ]);
    expect((await service.http('GET', `/v1/threads/${thread}`, { key })).status).toBe(404);
    expect((await service.http('DELETE', `/v1/agents/${classic.id}`, { key })).status).toBe(404);
  });

  it('is managed by the API again after the operator makes it standard', async () => {
    expect(await set(classic.id, '--type', 'standard')).toMatchObject({ type: 'anthropic', version: 3 });
    expect(await set(classic.id, '--type', 'standard')).toMatchObject({ type: 'anthropic', version: 3 });
    const read = await service.http('GET', `/v1/agents/${classic.id}`, { key: organization.key });
    expect([read.status, read.body.provider]).toEqual([200, classic.provider]);
    const changed = await service.http('PATCH', `/v1/agents/${classic.id}`, {
      key: organization.key,
      body: { name: 'Grace' },
    });
    expect([changed.status, changed.body.version]).toEqual([200, 4]);
  });

  it('is accessible to a key whose allowlist contains it, and to no other', async () => {
    const other = await createAgent(service, organization);
    const start = async (agentId: string) => {
      const { key } = await organization.keyWith(['chat'], [agentId]);
      return service.http('POST', '/v1/threads', { key, body: { assistant_id: classic.id } });
    };
    expect((await start(classic.id)).status).toBe(200);
    expect((await start(other.id)).body.code).toBe('forbidden_by_agent_allowlist');
  });
});
