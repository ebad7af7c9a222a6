import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddingQueue } from '../../../src/knowledge/index/application/indexing/embedding-queue.js';
import { CALIBRATION_TEXTS } from '../../../src/knowledge/index/domain/semantic-calibration.js';
import { putDocument, untilEmbedded } from '../../support/embedded-knowledge.js';
import { EmbeddingServer, vectorOf } from '../../support/embedding-server.js';
import { startService, type TestOrganization, type TestService, until } from '../../support/harness.js';
import { type FoundPassage, searchKnowledge } from '../../support/knowledge.js';

interface Scored extends FoundPassage {
  readonly semanticScore: number | null;
  readonly keywordScore: number;
}

const DIMENSIONS = 512;

describe.each([0, 0.7])('with a model whose unrelated texts have the cosine %d', (shared) => {
  let endpoint: EmbeddingServer;
  let service: TestService;
  let organization: TestOrganization;
  let agentId: string;

  beforeAll(async () => {
    endpoint = await EmbeddingServer.start();
    // All vectors of the model have this much in common.
    endpoint.meaningOf = (text) => [
      Math.sqrt(shared),
      ...vectorOf(text, DIMENSIONS).map((number) => number * Math.sqrt(1 - shared)),
    ];
    service = await startService({ environment: endpoint.environment });
  });
  beforeEach(async () => {
    organization = await service.organization('--features', 'knowledge_search');
    agentId = await service.agent(organization.key);
    for (const [key, text] of [
      ['a', 'every automobile is parked below'],
      ['b', 'invoices are paid in march'],
    ] as const) {
      await putDocument(service, organization, agentId, { key, title: '-', texts: [text] });
    }
    await untilEmbedded(service, agentId);
  });
  afterAll(async () => {
    await service.close();
    await endpoint.close();
  });

  const ask = async (query: string, more: object = {}): Promise<readonly Scored[]> =>
    (await searchKnowledge(service, { key: organization.key, agentId }, query, {
      scoreThreshold: undefined,
      ...more,
    })) as readonly Scored[];

  it('the semantic score is near 0 for an unrelated text, 1 for the same text, and in between the same for every model', async () => {
    const [unrelated] = (await ask('invoices', { scoreThreshold: 0, semanticWeight: 0.5 })).filter(({ text }) =>
      text.includes('automobile'),
    );
    expect(unrelated?.semanticScore ?? 0).toBeLessThan(0.15);
    const [same] = await ask('-\n\nevery automobile is parked below', { semanticWeight: 1 });
    expect(same?.semanticScore).toBeCloseTo(1, 4);
    const [related] = await ask('vehicle', { semanticWeight: 1 });
    expect(related?.semanticScore).toBeGreaterThan(0.55);
    expect(related?.semanticScore).toBeLessThan(0.8);
  });

  it('a match by meaning alone reaches the default threshold', async () => {
    const found = await ask('vehicle');
    expect(found.map(({ text }) => text)).toEqual(['every automobile is parked below']);
    expect(found[0]).toMatchObject({ keywordScore: 0, score: found[0]?.semanticScore });
  });

  it('a serving model without a calibration is calibrated by the next maintenance, with constant texts', async () => {
    await service.database.query('update knowledge_embedding_models set unrelated = null');
    endpoint.embedded.length = 0;
    await until(
      async () => {
        // The process caches the models for some seconds, during which the maintenance job finds nothing to do.
        await service.database.transaction((transaction) =>
          service.app.get(EmbeddingQueue, { strict: false }).enqueueAllAgents(transaction),
        );
        const [model] = await service.database.query<{ unrelated: number | null }>(
          'select unrelated from knowledge_embedding_models',
        );
        return typeof model?.unrelated === 'number' && Math.abs(model.unrelated - shared) < 0.1;
      },
      'the model is calibrated',
      { everyMs: 250 },
    );
    expect(new Set(endpoint.embedded)).toEqual(new Set(CALIBRATION_TEXTS));
  });
});
