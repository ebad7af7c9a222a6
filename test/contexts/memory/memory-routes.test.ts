import { describe, expect, it } from '@jest/globals';
import { until, useService } from '../../support/harness.js';
import { Talk } from '../../support/talk.js';
import { memories, save, textsOf } from './support.js';

const lines: string[] = [];
const service = useService({
  environment: { LOG_LEVEL: 'info' },
  log: { write: (line: string) => void lines.push(line) },
});

const path = ({ agentId }: Talk, query = '?userId=ann'): string => `/v1/agents/${agentId}/memories${query}`;

const audited = (what: string, { agentId }: Talk): Readonly<Record<string, unknown>>[] =>
  lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ audit, agentId: of }) => audit === what && of === agentId);

describe('a user’s memories', () => {
  it('are listed, the most recently saved first', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea.');
    await save(service, talk, 'ann', 'Works in Leeds as a nurse.');
    const { status, body } = await memories(service, talk, 'ann');
    expect(status).toBe(200);
    expect(body.memories.map(({ text }) => text)).toEqual(['Works in Leeds as a nurse.', 'Likes tea.']);
    for (const memory of body.memories) {
      expect(memory).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        text: memory.text,
        createdAt: memory.updatedAt,
        updatedAt: expect.stringMatching(/Z$/),
      });
    }
  });

  it('are an empty list for an unknown user', async () => {
    expect((await memories(service, await Talk.start(service), 'nobody')).body).toEqual({ memories: [] });
  });

  it('are erased at once, without those of other users, and can be saved again', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea.');
    await save(service, talk, 'ann', 'Works in Leeds as a nurse.');
    await save(service, talk, 'bob', 'Likes coffee.');
    const answer = await service.http('DELETE', path(talk), { key: talk.key });
    expect([answer.status, answer.body]).toEqual([200, { deleted: 2 }]);
    expect(await textsOf(service, talk, 'ann')).toEqual([]);
    expect(await textsOf(service, talk, 'bob')).toEqual(['Likes coffee.']);
    expect((await service.http('DELETE', path(talk), { key: talk.key })).body).toEqual({ deleted: 0 });
    await save(service, talk, 'ann', 'Likes cocoa.');
    expect(await textsOf(service, talk, 'ann')).toEqual(['Likes cocoa.']);
  });

  it('can be read and erased while the agent’s memory is off', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea.');
    await service.http('PATCH', `/v1/agents/${talk.agentId}`, {
      key: talk.key,
      body: { longTermMemory: { enabled: false } },
    });
    expect(await textsOf(service, talk, 'ann')).toEqual(['Likes tea.']);
    expect((await service.http('DELETE', path(talk), { key: talk.key })).body).toEqual({ deleted: 1 });
  });

  it('belong to user ids of up to 1,000 characters of any script', async () => {
    const talk = await Talk.start(service);
    const userId = '名'.repeat(999) + '𝒜';
    await save(service, talk, userId, 'Likes tea.');
    expect(await textsOf(service, talk, userId)).toEqual(['Likes tea.']);
  });

  it('are deleted with the agent', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea.');
    await service.http('DELETE', `/v1/agents/${talk.agentId}`, { key: talk.key });
    expect((await memories(service, talk, 'ann')).status).toBe(404);
    await until(
      async () =>
        (await service.database.query('select 1 from memories where agent_id = $1', [talk.agentId])).length === 0,
      'the memories to be removed',
    );
  });
});

describe('a request is refused', () => {
  it.each([
    ['without userId', ''],
    ['with an empty one', '?userId='],
    ['with two', '?userId=ann&userId=bob'],
    ['with one of more than 1,000 characters', `?userId=${'a'.repeat(1_001)}`],
    ['with another field', '?userId=ann&limit=1'],
  ])('%s', async (_, query) => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea.');
    for (const method of ['GET', 'DELETE']) {
      const { status, body } = await service.http(method, path(talk, query), { key: talk.key });
      expect([method, status, body['code']]).toEqual([method, 400, 'FST_ERR_VALIDATION']);
    }
    expect(await textsOf(service, talk, 'ann')).toEqual(['Likes tea.']);
  });

  it.each(['GET', 'DELETE'])('%s without manageAgents, and past the key’s allowlist', async (method) => {
    const talk = await Talk.start(service);
    const other = await service.agent(talk.key);
    const { key: chatKey } = await talk.organization.keyWith(['chat', 'manageApiKeys']);
    const { key: scoped } = await talk.organization.keyWith(['manageAgents'], [other]);
    const codes = await Promise.all(
      [chatKey, scoped].map(async (key) => (await service.http(method, path(talk), { key })).body['code']),
    );
    expect(codes).toEqual(['forbidden_by_key_role', 'forbidden_by_agent_allowlist']);
  });
});

it('the log has the member who read or erased memories, and their owner, without texts', async () => {
  const talk = await Talk.start(service);
  await save(service, talk, 'canary-user', 'canary-text');
  const { id: keyId, key } = await talk.organization.keyWith(['manageAgents']);
  await memories(service, { agentId: talk.agentId, key }, 'canary-user');
  await service.http('DELETE', path(talk, '?userId=canary-user'), { key });
  for (const what of ['memories_read', 'memories_erased']) {
    expect(audited(what, talk)).toEqual([
      expect.objectContaining({
        keyId,
        memberId: expect.any(String),
        organizationId: talk.organization.id,
        userKey: expect.any(String),
        memories: 1,
      }),
    ]);
  }
  expect(lines.filter((line) => line.includes('canary'))).toEqual([]);
});
