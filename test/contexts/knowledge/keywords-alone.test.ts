import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { EmbeddingServer } from '../../support/embedding-server.js';
import { startService, type TestOrganization, type TestService } from '../../support/harness.js';
import { putDocument, search } from '../../support/embedded-knowledge.js';

/** The server that tests run on has no extension for vectors; the embedded database has it, and no model is set there. */
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

it('starts, and says at /health/ready that keywords alone count', async () => {
  const { status, body } = await service.http('GET', '/health/ready');
  expect([status, body]).toMatchObject([200, { status: 'ok', knowledgeSearch: 'keywords' }]);
});

it('finds by keywords whatever the default threshold says', async () => {
  const [result] = await found(await service.agent(organization.key));
  expect(result).toMatchObject({ semanticScore: null });
  expect(result).toHaveProperty('score', (result as { keywordScore: number }).keywordScore);
  expect((result as { score: number }).score).toBeLessThan(0.444);
  expect(endpoint.requests).toEqual([]);
});

it('applies a threshold that was set, be it to the default', async () => {
  const agentId = await service.agent(organization.key, { knowledgeSearch: { scoreThreshold: 0.444 } });
  expect(await found(agentId)).toEqual([]);
  expect(await found(agentId, { scoreThreshold: 0 })).toHaveLength(1);
});

it('applies the threshold of the query', async () => {
  expect(await found(await service.agent(organization.key), { scoreThreshold: 0.9 })).toEqual([]);
});
