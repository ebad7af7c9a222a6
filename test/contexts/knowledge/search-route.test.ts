import { beforeAll, describe, expect, it } from '@jest/globals';
import { type TestOrganization, useService } from '../../support/harness.js';
import { learn, type Owner, searchKnowledge } from '../../support/knowledge.js';
import { Knowledge, text } from './support.js';

const service = useService();
let organization: TestOrganization;
let owner: Owner;

beforeAll(async () => {
  organization = await service.organization();
  owner = { key: organization.key, agentId: await service.agent(organization.key) };
  await learn(service, owner, ...Array.from({ length: 7 }, (_, index) => `lions of herd ${index}`));
});

const path = (): string => `/v1/agents/${owner.agentId}/knowledge-bases/search`;

describe('a search through the route', () => {
  it('returns passages with their source, best first, each with all its fields', async () => {
    const [found] = await searchKnowledge(service, owner, 'lions');
    expect(found).toEqual({
      ...{
        sourceId: expect.any(String),
        kind: 'upload',
        title: 'notes.txt',
        url: null,
        heading: null,
        headings: [],
        page: null,
      },
      ...{
        text: expect.stringContaining('lions'),
        score: expect.any(Number),
        semanticScore: null,
        keywordScore: expect.any(Number),
      },
    });
    const scores = (await searchKnowledge(service, owner, 'lions herd', { maxResults: 7 })).map(({ score }) => score);
    expect(scores).toHaveLength(7);
    expect(scores).toEqual([...scores].sort((left, right) => right - left));
  });

  it('names the headings above a passage of a page, and the address with the anchor nearest above it', async () => {
    const knowledge = new Knowledge(service, organization.id, await service.agent(organization.key));
    const headings = ['Zoo', 'Cats'].map((text, index) => ({ kind: 'heading' as const, level: index + 1, text }));
    const { documentId } = await knowledge.put('cats', [...headings, ...text('tigers sleep')], { title: 'The zoo' });
    const find = async (): Promise<object[]> => [
      ...(await searchKnowledge(service, { ...owner, agentId: knowledge.agentId }, 'tigers')),
    ];
    const expected = {
      kind: 'website',
      title: 'The zoo',
      heading: 'Zoo › Cats',
      headings: ['Zoo', 'Cats'],
      text: 'tigers sleep',
    };
    expect(await find()).toMatchObject([{ ...expected, url: 'https://site.test/cats' }]);
    await service.database.query("update knowledge_chunks set anchor = 'big cats' where document_id = $1::uuid", [
      documentId,
    ]);
    expect(await find()).toMatchObject([{ ...expected, url: 'https://site.test/cats#big%20cats' }]);
  });

  it("uses the agent's settings unless the request has its own, without the feature", async () => {
    expect(await searchKnowledge(service, owner, 'lions')).toHaveLength(5);
    expect(await searchKnowledge(service, owner, 'lions', { maxResults: 2 })).toHaveLength(2);
    expect(await searchKnowledge(service, owner, 'lions', { maxResults: 50, semanticWeight: 0 })).toHaveLength(7);
  });

  it('uses the tuning of the agent while the organization has the feature, and the defaults after that', async () => {
    await service.cli('org', 'set', organization.id, '--features', 'knowledge_search');
    const body = { knowledgeSearch: { maxResults: 2 } };
    expect((await service.http('PATCH', `/v1/agents/${owner.agentId}`, { key: owner.key, body })).status).toBe(200);
    expect(await searchKnowledge(service, owner, 'lions')).toHaveLength(2);
    await service.cli('org', 'set', organization.id, '--features', '');
    expect(await searchKnowledge(service, owner, 'lions')).toHaveLength(5);
  });

  it('returns an empty list if nothing is found, and for an agent without knowledge', async () => {
    expect(await searchKnowledge(service, owner, 'xylophone')).toEqual([]);
    expect(await searchKnowledge(service, { ...owner, agentId: await service.agent(owner.key) }, 'lions')).toEqual([]);
  });

  it('needs access to the agent, but no capability', async () => {
    const chat = await organization.keyWith(['chat']);
    expect((await service.http('POST', path(), { key: chat.key, body: { query: 'lions' } })).status).toBe(200);
    const elsewhere = await organization.keyWith(['manageAgents'], [await service.agent(owner.key)]);
    expect((await service.http('POST', path(), { key: elsewhere.key, body: { query: 'lions' } })).status).toBe(403);
    const stranger = await service.organization();
    expect((await service.http('POST', path(), { key: stranger.key, body: { query: 'lions' } })).status).toBe(404);
    expect((await service.http('POST', path(), { body: { query: 'lions' } })).status).toBe(401);
  });

  it.each<[object, string]>([
    [{}, 'body/query is required'],
    [{ query: '' }, 'body/query must be a string of 1 to 8000 characters'],
    [{ query: '😀'.repeat(8_001) }, 'body/query must be a string of 1 to 8000 characters'],
    [{ query: 'x', maxResults: 0 }, 'body/maxResults must be an integer from 1 to 50'],
    [{ query: 'x', maxResults: 51 }, 'body/maxResults must be an integer from 1 to 50'],
    [{ query: 'x', maxResults: null }, 'body/maxResults must be an integer from 1 to 50'],
    [{ query: 'x', scoreThreshold: 1.1 }, 'body/scoreThreshold must be a number from 0 to 1'],
    [{ query: 'x', semanticWeight: -0.1 }, 'body/semanticWeight must be a number from 0 to 1'],
    [{ query: 'x', userContext: {} }, 'body/userContext is not allowed'],
  ])('with %j is refused', async (body, message) => {
    const answer = await service.http<{ message: string }>('POST', path(), { key: owner.key, body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION', error: 'bad_request' } });
    expect(answer.body.message).toContain(message);
  });

  it('accepts a query of 8,000 characters', async () => {
    expect((await service.http('POST', path(), { key: owner.key, body: { query: '😀'.repeat(8_000) } })).status).toBe(
      200,
    );
  });
});
