import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EmbeddingModels } from '../../../src/knowledge/index/application/embeddings/embedding-models.js';
import { EmbeddingModel } from '../../../src/models/index.js';
import { EmbeddingServer } from '../../support/embedding-server.js';
import { startService, type TestOrganization, type TestService, until } from '../../support/harness.js';
import { putDocument, search, untilEmbedded, vectorsOf } from '../../support/embedded-knowledge.js';

let endpoint: EmbeddingServer;
let service: TestService;
let organization: TestOrganization;
let agentId: string;

beforeAll(async () => {
  endpoint = await EmbeddingServer.start();
  service = await startService({ environment: endpoint.environment });
  organization = await service.organization();
  agentId = await service.agent(organization.key);
  await putDocument(service, organization, agentId, {
    key: 'a',
    texts: ['every automobile is parked below', 'the physician comes on mondays'],
  });
  await untilEmbedded(service, agentId);
});
afterAll(async () => {
  await service.close();
  await endpoint.close();
});

/** Does what a start with another `EMBEDDINGS_MODEL` does. */
async function choose(model: string): Promise<void> {
  Object.assign(service.app.get(EmbeddingModel, { strict: false }), { model });
  await service.app.get(EmbeddingModels, { strict: false }).applyConfigured();
}

/** The semantic score. The texts share no word with the query. */
async function meaning(query: string): Promise<number> {
  const [found] = await search(service, organization, agentId, query, { scoreThreshold: 0, semanticWeight: 1 });
  return found?.semanticScore ?? 0;
}

it('the former model serves until all knowledge is embedded with the new one; then its vectors are removed', async () => {
  endpoint.fault = (exchange, { model }) => {
    if (model !== 'test-2') return false;
    exchange.refuse(503, 'not yet');
    return true;
  };
  await choose('test-2');
  await until(() => endpoint.requests.some(({ model }) => model === 'test-2'), 'the new model is asked');
  expect(await meaning('car')).toBeGreaterThan(0.2);
  expect(endpoint.requests.filter(({ texts }) => texts.includes('car')).map(({ model }) => model)).toEqual(['test-1']);
  endpoint.fault = () => false;
  await untilEmbedded(service, agentId, { model: 'test-2 serving' });
  await until(
    async () => (await vectorsOf(service, agentId)).models['test-1 retired'] === undefined,
    'the old vectors are gone',
  );
  await until(async () => (await meaning('physician')) > 0, 'queries are compared with the new vectors');
  expect(endpoint.requests.filter(({ texts }) => texts.includes('physician')).at(-1)?.model).toBe('test-2');
  expect((await vectorsOf(service, agentId)).models).toEqual({ 'test-2 serving': 2 });
});

it('the serving model continues to serve if the operator sets it again', async () => {
  endpoint.fault = (exchange, { model }) => {
    if (model !== 'test-3') return false;
    exchange.refuse(503, 'not yet');
    return true;
  };
  await choose('test-3');
  await until(() => endpoint.requests.some(({ model }) => model === 'test-3'), 'the third model is asked');
  await choose('test-2');
  const states = async (): Promise<string[]> =>
    (
      await service.database.query<{ state: string }>(
        "select name || ' ' || state as state from knowledge_embedding_models order by id",
      )
    ).map(({ state }) => state);
  await until(async () => (await states()).join() === 'test-2 serving', 'nothing is left of the third');
  expect(await meaning('vehicle')).toBeGreaterThan(0.2);
});
