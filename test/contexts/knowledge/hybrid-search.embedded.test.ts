import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddingServer } from '../../support/embedding-server.js';
import { startService, type TestOrganization, type TestService } from '../../support/harness.js';
import { searchKnowledge } from '../../support/knowledge.js';
import { putDocument, search, untilEmbedded } from '../../support/embedded-knowledge.js';

let endpoint: EmbeddingServer;
let service: TestService;
let organization: TestOrganization;
let agentId: string;

beforeAll(async () => {
  endpoint = await EmbeddingServer.start();
  service = await startService({ environment: endpoint.environment });
});
beforeEach(async () => {
  organization = await service.organization('--features', 'knowledge_search');
  agentId = await service.agent(organization.key);
});
afterAll(async () => {
  await service.close();
  await endpoint.close();
});

const put = (key: string, ...texts: string[]): Promise<void> =>
  putDocument(service, organization, agentId, { key, texts });
const texts = async (query: string, more: object = {}): Promise<string[]> =>
  (await search(service, organization, agentId, query, more)).map(({ text }) => text);

it('reports the search by meaning at /health/ready', async () => {
  const { body } = await service.http('GET', '/health/ready');
  expect(body).toMatchObject({ status: 'ok', knowledgeSearch: 'hybrid' });
});

describe('a search', () => {
  beforeEach(async () => {
    await put('a', 'every automobile is parked below', 'the physician comes on mondays', 'invoices are paid in march');
    await untilEmbedded(service, agentId);
  });

  it('finds by meaning texts that share no word with the query', async () => {
    const [first] = await search(service, organization, agentId, 'car', { scoreThreshold: 0, semanticWeight: 1 });
    expect(first).toMatchObject({ text: 'every automobile is parked below', keywordScore: 0 });
    expect(first?.semanticScore).toBeGreaterThan(0.2);
    expect(first?.score).toBe(first?.semanticScore);
  });

  it('uses meaning alone, with the default settings, if no visible text has a word of the query', async () => {
    await putDocument(service, organization, agentId, {
      key: 'hidden',
      texts: ['the vacation of the medic'],
      scope: { team: 'red' },
    });
    await untilEmbedded(service, agentId);
    for (const query of ['medic', 'vehicle']) {
      const [first] = await search(service, organization, agentId, query);
      expect(first).toMatchObject({
        text: query === 'medic' ? 'the physician comes on mondays' : 'every automobile is parked below',
        keywordScore: 0,
        score: first?.semanticScore,
      });
    }
  });

  it('weighs keywords against meaning, and drops results below the threshold', async () => {
    const [first] = await search(service, organization, agentId, 'physician', { scoreThreshold: 0 });
    expect(first?.text).toBe('the physician comes on mondays');
    const expected = 0.4 * (first?.semanticScore ?? 0) + 0.6 * (first?.keywordScore ?? 0);
    expect(first?.score).toBeCloseTo(expected, 5);
    expect(await texts('physician', { scoreThreshold: expected + 0.001 })).toEqual([]);
    expect(await texts('automobile physician invoices', { scoreThreshold: 0, maxResults: 2 })).toHaveLength(2);
  });

  it('uses keywords alone at weight 0, without a request for a vector', async () => {
    const asked = endpoint.requests.length;
    const found = await search(service, organization, agentId, 'march', { semanticWeight: 0 });
    expect(found).toMatchObject([
      { text: 'invoices are paid in march', semanticScore: null, score: found[0]?.keywordScore },
    ]);
    expect(found[0]?.score).toBeGreaterThan(0.8);
    expect(await texts('car', { semanticWeight: 0 })).toEqual([]);
    expect(endpoint.requests.length).toBe(asked);
  });

  it('applies the default threshold at weight 0 too, and leaves the best three results above half of it', async () => {
    const route = (query: string, more: object): ReturnType<typeof searchKnowledge> =>
      searchKnowledge(service, { key: organization.key, agentId }, query, { semanticWeight: 0, ...more });
    const query = 'which physician answers what nobody else of all the others knows';
    const [found] = await route(query, { scoreThreshold: 0 });
    expect(found?.score).toBeGreaterThan(0.222);
    expect(found?.score).toBeLessThan(0.444);
    expect(await route(query, { scoreThreshold: undefined })).toEqual([found]);
    expect(await route(query, { scoreThreshold: 0.444 })).toEqual([]);
  });

  it('requests the vector of a query once', async () => {
    for (let times = 0; times < 3; times += 1) await texts('a query that is asked again');
    expect(endpoint.timesEmbedded('a query that is asked again')).toBe(1);
  });

  it('finds nothing for an empty query', async () => {
    expect(await texts(' \n ')).toEqual([]);
  });

  it('finds nothing of other agents or organizations', async () => {
    const other = await service.agent(organization.key);
    expect(await search(service, organization, other, 'car', { scoreThreshold: 0 })).toEqual([]);
    const stranger = await service.organization();
    const theirs = await service.agent(stranger.key);
    expect(await search(service, stranger, theirs, 'car', { scoreThreshold: 0 })).toEqual([]);
  });

  it('finds a chunk without a vector by its keywords', async () => {
    endpoint.fault = (exchange, request) => {
      if (!request.texts.some((text) => text.includes('brand new'))) return false;
      exchange.refuse(503, 'later');
      return true;
    };
    try {
      await put('b', 'a brand new notice');
      const found = await search(service, organization, agentId, 'notice', { scoreThreshold: 0.8 });
      expect(found).toMatchObject([{ text: 'a brand new notice', semanticScore: null, score: found[0]?.keywordScore }]);
    } finally {
      endpoint.fault = () => false;
    }
  });
});

const KEYS = Array.from({ length: 60 }, (_, index) => String(index).padStart(2, '0'));

async function foundKeys(query: string, more: object): Promise<string[]> {
  const found = await search(service, organization, agentId, query, { scoreThreshold: 0, maxResults: 4, ...more });
  const rows = await service.database.query<{ id: string; key: string }>(
    'select id::text as id, key from knowledge_documents where agent_id = $1::uuid',
    [agentId],
  );
  return found.map(({ documentId }) => rows.find(({ id }) => id === documentId)?.key ?? '');
}

it('prefers the first documents among equal scores, by meaning and by keywords', async () => {
  // The first documents are stored last. Their texts differ only in words that do not change the vector.
  for (const key of KEYS.toReversed()) await put(key, `every automobile is parked below ${key}`);
  await untilEmbedded(service, agentId);
  for (const semanticWeight of [0, 0.4, 1])
    expect(await foundKeys('automobile', { semanticWeight })).toEqual(KEYS.slice(0, 4));
});

it('returns a text once, from the first document that has it, and fills the other places with other texts', async () => {
  for (const key of KEYS.toReversed())
    await put(key, key < '50' ? 'every automobile is  parked below' : 'every automobile is\nparked below');
  await put(
    'others',
    'one vehicle on the roof',
    'two times an automobile on a bridge near the river',
    'the auto show of the year comes to town again',
  );
  await untilEmbedded(service, agentId);
  for (const semanticWeight of [0.4, 1])
    expect(await foundKeys('car', { semanticWeight })).toEqual(
      expect.arrayContaining(['00', 'others', 'others', 'others']),
    );
  expect((await foundKeys('automobile', { semanticWeight: 0 })).toSorted()).toEqual(['00', 'others']);
});

it('finds documents with a scope only if the user has all of it, by meaning too', async () => {
  await putDocument(service, organization, agentId, {
    key: 's',
    texts: ['the automobile of team red'],
    scope: { team: 'red' },
  });
  await put('open', 'a vehicle for all');
  await untilEmbedded(service, agentId);
  const found = (userContext: Record<string, string> | null): Promise<string[]> =>
    texts('car', { scoreThreshold: 0.01, semanticWeight: 1, userContext });
  expect(await found(null)).toEqual(['a vehicle for all']);
  expect(await found({ team: 'blue' })).toEqual(['a vehicle for all']);
  expect(await found({ team: 'red', more: 'x' })).toEqual(
    expect.arrayContaining(['the automobile of team red', 'a vehicle for all']),
  );
});

it('uses the default weight for an agent whose provider has no such setting', async () => {
  agentId = await service.agent(organization.key, {
    provider: { type: 'openai-responses' },
    knowledgeSearch: { semanticWeight: 0, scoreThreshold: 0 },
  });
  await put('a', 'every automobile is parked below');
  await untilEmbedded(service, agentId);
  const [found] = await search(service, organization, agentId, 'car parked', { semanticWeight: 1 });
  expect(found?.score).toBeCloseTo(0.4 * (found?.semanticScore ?? 0) + 0.6 * (found?.keywordScore ?? 0), 5);
});
