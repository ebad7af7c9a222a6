import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { EmbeddingServer } from '../../support/embedding-server.js';
import { startService, type TestOrganization, type TestService } from '../../support/harness.js';
import { putDocument, search } from '../../support/embedded-knowledge.js';

/** The tests' database server lacks the extension for vectors. With the embedded database, which has it, no model is set. */
const ON_CLUSTER = process.env['TEST_MODE'] === 'cluster';

let endpoint: EmbeddingServer;
let service: TestService;
let organization: TestOrganization;

beforeAll(async () => {
  endpoint = await EmbeddingServer.start();
  service = await startService(ON_CLUSTER ? { environment: endpoint.environment } : {});
});
beforeEach(async () => {
  organization = await service.organization('--features', 'knowledge_search');
});
afterAll(async () => {
  await service.close();
  await endpoint.close();
});

async function found(agentId: string, more: object = {}): Promise<readonly object[]> {
  await putDocument(service, organization, agentId, { key: 'a', texts: ['one word of these is asked for'] });
  return search(service, organization, agentId, 'which answer that nobody else knows holds a word', more);
}

it('starts, and reports the search by keywords alone at /health/ready', async () => {
  const { status, body } = await service.http('GET', '/health/ready');
  expect([status, body]).toMatchObject([200, { status: 'ok', knowledgeSearch: 'keywords' }]);
});

it('finds results by keywords below the default threshold', async () => {
  const [result] = await found(await service.agent(organization.key));
  expect(result).toMatchObject({ semanticScore: null });
  expect(result).toHaveProperty('score', (result as { keywordScore: number }).keywordScore);
  expect((result as { score: number }).score).toBeLessThan(0.444);
  expect(endpoint.requests).toEqual([]);
});

it('applies a threshold that was set, even to the default value', async () => {
  const agentId = await service.agent(organization.key, { knowledgeSearch: { scoreThreshold: 0.444 } });
  expect(await found(agentId)).toEqual([]);
  expect(await found(agentId, { scoreThreshold: 0 })).toHaveLength(1);
});

it('applies the threshold of the query', async () => {
  expect(await found(await service.agent(organization.key), { scoreThreshold: 0.9 })).toEqual([]);
});
