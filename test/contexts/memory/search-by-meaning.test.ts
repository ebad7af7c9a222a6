import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { QUERY_EMBEDDING_MS, QUERY_PAUSE_MS } from '../../../src/models/application/query-embeddings.js';
import { EmbeddingServer } from '../../support/embedding-server.js';
import { startService, type TestService, until } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { Talk } from '../../support/talk.js';
import { save, search, textsOf } from './support.js';

const clock = new ShiftedClock();
let endpoint: EmbeddingServer;
let service: TestService;
let talk: Talk;

beforeAll(async () => {
  endpoint = await EmbeddingServer.start();
  service = await startService({ clock, environment: endpoint.environment });
});
beforeEach(async () => {
  service.models.reset();
  endpoint.fault = () => false;
  endpoint.meaningOf = undefined;
  endpoint.dimensions = 64;
  // After a failure, queries get no vector for a while.
  clock.moveOn(QUERY_PAUSE_MS);
  talk = await Talk.start(service);
});
afterAll(async () => {
  await service.close();
  await endpoint.close();
});

async function vectors(): Promise<{ text: string; bytes: number | null; model: string | null }[]> {
  return service.database.query(
    'select text, octet_length(vector) as bytes, vector_model as model from memories where agent_id = $1 order by text',
    [talk.agentId],
  );
}

async function untilEmbedded(count: number, model = 'test-1'): Promise<void> {
  await until(
    async () => (await vectors()).filter((row) => row.model === model).length === count,
    'the memories to be embedded',
  );
}

describe('with an embedding model', () => {
  it('a search ranks a memory with the same meaning above one that only shares words', async () => {
    await save(service, talk, 'ann', 'Parks her automobile below the house');
    await save(service, talk, 'ann', 'Her physician comes on mondays');
    await untilEmbedded(2);
    expect((await vectors()).map(({ bytes }) => bytes)).toEqual([64, 64]);
    const found = await search(service, talk, 'ann', 'car');
    expect(found).toContain('Parks her automobile below the house');
    expect(found).not.toContain('physician');
  });

  it('a search finds memories without a vector by their words, and enqueues their embedding', async () => {
    endpoint.fault = (exchange) => {
      exchange.refuse(503, {});
      return true;
    };
    await save(service, talk, 'ann', 'Parks her automobile below the house');
    expect(await search(service, talk, 'ann', 'automobile')).toContain('Parks her automobile');
    expect(await search(service, talk, 'ann', 'car')).toContain('Nothing that you have noted');
    endpoint.fault = () => false;
    await until(async () => {
      await search(service, talk, 'ann', 'house');
      return (await vectors()).every(({ model }) => model === 'test-1');
    }, 'the memory to be embedded');
  });

  it('a memory is embedded again when its text changes, and never has the vector of an earlier text', async () => {
    const code = (await save(service, talk, 'ann', 'Her dog is called Rufus')).slice(9, 17);
    await untilEmbedded(1);
    await save(service, talk, 'ann', 'Parks her automobile below the house', { replaces: code });
    await untilEmbedded(1);
    expect(await search(service, talk, 'ann', 'vehicle')).toContain('Parks her automobile');
  });

  it('a text that the endpoint refuses stays without a vector, and the others are embedded', async () => {
    endpoint.fault = (exchange, { texts }) => {
      if (!texts.some((text) => text.includes('refused'))) return false;
      exchange.refuse(400, { error: { message: 'no' } });
      return true;
    };
    await save(service, talk, 'ann', 'a refused text');
    await save(service, talk, 'ann', 'Her physician comes on mondays');
    await untilEmbedded(2);
    expect((await vectors()).map(({ bytes }) => bytes)).toEqual([64, null]);
    expect(await search(service, talk, 'ann', 'refused')).toContain('a refused text');
  });

  it('memories are embedded again when the model of the same name makes vectors of another size', async () => {
    await save(service, talk, 'ann', 'Parks her automobile below the house');
    await untilEmbedded(1);
    endpoint.dimensions = 128;
    expect(await search(service, talk, 'ann', 'auto')).toContain('Nothing');
    await until(async () => (await vectors()).every(({ bytes }) => bytes === 128), 'the memory to be embedded anew');
    expect(await search(service, talk, 'ann', 'auto')).toContain('Parks her automobile');
  });

  it('vectors without a direction or of another size are not compared', async () => {
    endpoint.meaningOf = (text) =>
      text.includes('nothing') ? new Array<number>(64).fill(0) : new Array<number>(64).fill(1);
    await save(service, talk, 'ann', 'means nothing at all');
    await untilEmbedded(1);
    expect(await search(service, talk, 'ann', 'nothing')).toContain('means nothing at all');
    await save(service, talk, 'ann', 'Her dog is called Rufus');
    await untilEmbedded(2);
    endpoint.meaningOf = () => [1, 2, 3];
    expect(await search(service, talk, 'ann', 'what is the dog called')).toContain('Rufus');
  });
});

it('a search continues by words when the endpoint hangs', async () => {
  const manual = new ManualClock();
  const slow = await startService({ clock: manual, environment: endpoint.environment });
  try {
    const here = await Talk.start(slow);
    await save(slow, here, 'ann', 'Her dog is called Rufus');
    let held = 0;
    // A job embeds the memory itself, at any time.
    endpoint.fault = (_exchange, { texts }) => {
      if (!texts.includes('dog rufus')) return false;
      held += 1;
      return true;
    };
    const found = search(slow, here, 'ann', 'dog rufus');
    await until(() => held > 0, 'the endpoint to be asked');
    await manual.advance(QUERY_EMBEDDING_MS);
    expect(await found).toContain('Rufus');
    expect(await textsOf(slow, here, 'ann')).toEqual(['Her dog is called Rufus']);
  } finally {
    await slow.close();
  }
});
