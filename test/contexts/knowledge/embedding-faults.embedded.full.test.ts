import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { LEASE_MS } from '../../../src/knowledge/index/limits.js';
import { answerOf, type EmbeddingFault, EmbeddingServer, vectorOf } from '../../support/embedding-server.js';
import { startService, type TestOrganization, type TestService, until } from '../../support/harness.js';
import { putDocument, search, untilEmbedded, vectorsOf } from '../../support/embedded-knowledge.js';
import { ShiftedClock } from '../../support/shifted-clock.js';

const clock = new ShiftedClock();
let endpoint: EmbeddingServer;
let service: TestService;
let organization: TestOrganization;
let agentId: string;

beforeAll(async () => {
  endpoint = await EmbeddingServer.start();
  service = await startService({ clock, environment: endpoint.environment });
});
beforeEach(async () => {
  organization = await service.organization();
  agentId = await service.agent(organization.key);
});
afterEach(() => {
  endpoint.fault = () => false;
});
afterAll(async () => {
  await service.close();
  await endpoint.close();
});

/** Texts that are unique to the test. */
function sentences(count: number, id = agentId): string[] {
  return Array.from({ length: count }, (_, index) => `sentence ${String(index)} of ${id}`);
}

const put = (...texts: string[]): Promise<void> =>
  putDocument(service, organization, agentId, { key: String(texts.length), texts });
const mine = ({ texts }: { texts: readonly string[] }): boolean => texts.some((text) => text.includes(agentId));

const refusing =
  (status: number, headers: Record<string, string> = {}): EmbeddingFault =>
  (exchange) => {
    exchange.refuse(status, { error: { message: 'no' } }, headers);
    return true;
  };
const answering =
  (vectors: (texts: readonly string[]) => number[][]): EmbeddingFault =>
  (exchange, { texts }) => {
    exchange.refuse(200, answerOf(vectors(texts)));
    return true;
  };
const vectors = (texts: readonly string[], size = 64): number[][] => texts.map((text) => vectorOf(text, size));

const TEMPORARY: readonly (readonly [string, EmbeddingFault])[] = [
  ['limits the rate with Retry-After', refusing(429, { 'retry-after': '1' })],
  ['limits the rate', refusing(429)],
  ['is unavailable', refusing(503)],
  ['resets the connection', (exchange) => (exchange.reset(), true)],
  ['returns half a batch', answering((texts) => vectors(texts.slice(0, texts.length / 2)))],
  [
    'returns vectors of several sizes',
    answering((texts) => vectors(texts).map((vector, index) => vector.slice(index % 2))),
  ],
  ['returns vectors of another size once', answering((texts) => vectors(texts, 32))],
  ['returns no JSON', (exchange) => (exchange.refuse(200, 'not json'), true)],
  [
    'returns an error with the status 200',
    (exchange) => (exchange.refuse(200, { error: { message: 'overloaded' } }), true),
  ],
  ['returns twice as many vectors', answering((texts) => vectors([...texts, ...texts]))],
  ['returns NaN', answering((texts) => vectors(texts).map((vector) => [Number.NaN, ...vector.slice(1)]))],
  ['returns numbers beyond 32 bits', answering((texts) => vectors(texts).map((vector) => [1e300, ...vector.slice(1)]))],
  ['returns 20 MB', (exchange) => (exchange.refuse(200, { data: 'x'.repeat(20_000_000) }), true)],
];

it(`every chunk gets its vector in the end if the endpoint ${TEMPORARY.map(([what]) => what).join(', or ')}`, async () => {
  await put('an earlier text');
  await untilEmbedded(service, agentId, { clock });
  // Concurrently, each with its own agent, because they mostly wait.
  const agents = await Promise.all(
    TEMPORARY.map(async ([what, fault]) => ({ what, fault, id: await service.agent(organization.key), failed: 0 })),
  );
  endpoint.fault = (exchange, request) => {
    const agent = agents.find(({ id }) => request.texts.some((text) => text.includes(id)));
    if (!agent || agent.failed > 0) return false;
    agent.failed += 1;
    return agent.fault(exchange, request);
  };
  await Promise.all(
    agents.map(({ id }) => putDocument(service, organization, id, { key: 'a', texts: sentences(6, id) })),
  );
  for (const { id } of agents) {
    await untilEmbedded(service, id, { clock });
    expect(await vectorsOf(service, id)).toMatchObject({ chunks: 6, unembeddable: 0 });
  }
  expect(agents.map(({ failed }) => failed)).toEqual(TEMPORARY.map(() => 1));
});

it('vectors in another order are assigned to their texts by their index', async () => {
  const texts = ['the automobile is parked', 'the physician is in', 'the invoice is paid'];
  endpoint.fault = (exchange, { texts: asked }) => {
    const data = vectors(asked).map((embedding, index) => ({ object: 'embedding', index, embedding }));
    exchange.refuse(200, { object: 'list', data: data.reverse() });
    return true;
  };
  await put(...texts);
  await untilEmbedded(service, agentId, { clock });
  endpoint.fault = () => false;
  for (const [query, text] of [
    ['vehicle', texts[0]],
    ['medic', texts[1]],
  ] as const) {
    expect(
      (await search(service, organization, agentId, query, { semanticWeight: 1, scoreThreshold: 0 }))[0],
    ).toMatchObject({ text });
  }
});

it('vectors of the largest numbers do not break searches', async () => {
  endpoint.fault = (exchange, request) =>
    request.texts.some((text) => text.includes('enormous')) &&
    answering((texts) => texts.map(() => new Array<number>(64).fill(3e38)))(exchange, request);
  await put(`the enormous canteen ${agentId}`, `the small canteen ${agentId}`);
  await untilEmbedded(service, agentId, { clock });
  const found = await search(service, organization, agentId, 'small canteen', { scoreThreshold: 0 });
  expect(found.map(({ text }) => text)).toEqual([`the small canteen ${agentId}`, `the enormous canteen ${agentId}`]);
  for (const { score } of found) expect(score).toBeLessThanOrEqual(1);
});

it('a text whose vector has no direction is found by its keywords alone', async () => {
  const of = (words: string, request: { readonly texts: readonly string[] }): boolean =>
    request.texts.some((text) => text.includes(words));
  endpoint.fault = (exchange, request) =>
    of('directionless', request) &&
    answering((texts) => texts.map(() => new Array<number>(64).fill(0)))(exchange, request);
  await put(`the directionless canteen ${agentId}`);
  await untilEmbedded(service, agentId, { clock });
  endpoint.fault = () => false;
  const [found] = await search(service, organization, agentId, 'canteen', { semanticWeight: 1 });
  expect(found).toMatchObject({ semanticScore: null, score: found?.keywordScore });
});

it('a query whose vector has no direction is searched by keywords alone, with their threshold', async () => {
  await put(`the long story of a canteen that was never to be found where it had been before ${agentId}`);
  await untilEmbedded(service, agentId, { clock });
  for (const number of [0, 1e-30, 3e38]) {
    const query = `canteen restaurant bistro tavern cafeteria ${String(number)}`;
    endpoint.fault = (exchange, request) =>
      request.texts.includes(query) &&
      answering((texts) => texts.map(() => new Array<number>(64).fill(number)))(exchange, request);
    const found = await search(service, organization, agentId, query);
    expect(found).toMatchObject([{ semanticScore: null, score: found[0]?.keywordScore }]);
    expect(found[0]?.score).toBeLessThan(0.444);
  }
});

it('removed text is embedded again when it is added again: no vector outlives its chunks', async () => {
  const [text = ''] = sentences(1);
  await put(text);
  await untilEmbedded(service, agentId, { clock });
  await service.database.query('delete from knowledge_documents where agent_id = $1::uuid', [agentId]);
  await put(text);
  await untilEmbedded(service, agentId, { clock });
  expect(endpoint.timesEmbedded(text)).toBe(2);
});

it('a text that the endpoint refuses does not affect the others, and is not requested again', async () => {
  const bad = `unacceptable ${agentId}`;
  endpoint.fault = (exchange, { texts }) =>
    texts.some((text) => text.includes(bad)) && refusing(400)(exchange, { model: '', texts });
  await put(...sentences(9), bad);
  await untilEmbedded(service, agentId, { clock });
  expect(await vectorsOf(service, agentId)).toMatchObject({ chunks: 10, unembeddable: 1 });
  const asked = endpoint.requests.filter(mine).length;
  expect(asked).toBeLessThan(14);
  await putDocument(service, organization, agentId, {
    key: 'another',
    texts: [...sentences(9), bad, `more ${agentId}`],
  });
  await untilEmbedded(service, agentId, { clock });
  expect(endpoint.requests.filter(mine).length).toBe(asked + 1);
  const [found] = await search(service, organization, agentId, 'unacceptable');
  expect(found).toMatchObject({ text: bad, semanticScore: null, score: found?.keywordScore });
});

it('the beginning of a text that is too long is embedded', async () => {
  endpoint.fault = (exchange, { texts }) =>
    texts.some((text) => text.length > 1_000) && refusing(400)(exchange, { model: '', texts });
  await put(`${agentId} ${'long '.repeat(220)}`, ...sentences(2));
  await untilEmbedded(service, agentId, { clock });
  expect(await vectorsOf(service, agentId)).toMatchObject({ chunks: 3, unembeddable: 0 });
});

it('an endpoint that is overloaded for a minute gets fewer and fewer requests, and no job fails', async () => {
  const from = clock.monotonic();
  endpoint.fault = (...request) => clock.monotonic() < from + 60_000 && refusing(429)(...request);
  await put(...sentences(5));
  await untilEmbedded(service, agentId, { clock });
  expect(await vectorsOf(service, agentId)).toMatchObject({ chunks: 5, unembeddable: 0 });
  expect(endpoint.requests.filter(mine).length).toBeLessThan(8);
  expect(await service.database.query("select id from outbox where state = 'dead'")).toEqual([]);
});

it('the lease of a worker that died keeps others from the agent for two minutes', async () => {
  const dead = new Date(clock.now().getTime() + LEASE_MS).toISOString();
  await service.database.query(
    'insert into knowledge_embedding_leases (agent_id, organization_id, holder, expires_at) values ($1::uuid, $2::uuid, gen_random_uuid(), $3::timestamptz)',
    [agentId, organization.id, dead],
  );
  await put(...sentences(5));
  const putOff = async (): Promise<boolean> =>
    (
      await service.database.query(
        "select 1 from outbox where dedupe_key = $1 and state = 'pending' and available_at > created_at + interval '4 seconds'",
        [agentId],
      )
    ).length > 0;
  await until(putOff, 'the agent to be put off');
  expect(endpoint.requests.filter(mine)).toEqual([]);
  clock.moveOn(LEASE_MS);
  await untilEmbedded(service, agentId, { clock });
  expect(await vectorsOf(service, agentId)).toMatchObject({ chunks: 5, unembeddable: 0 });
});

it('an endpoint that refuses the key marks no text as refused', async () => {
  let refused = 0;
  endpoint.fault = (exchange) => {
    if (refused >= 2) return false;
    refused += 1;
    return refusing(401)(exchange, { model: '', texts: [] });
  };
  await put(...sentences(3));
  await untilEmbedded(service, agentId, { clock });
  expect(await vectorsOf(service, agentId)).toMatchObject({ chunks: 3, unembeddable: 0 });
});

it('the vector of a text is copied within an organization, not from another one', async () => {
  const [text = ''] = sentences(1);
  await put(text);
  await untilEmbedded(service, agentId, { clock });
  const second = await service.agent(organization.key);
  for (const key of ['again', 'and again']) await putDocument(service, organization, second, { key, texts: [text] });
  await untilEmbedded(service, second, { clock });
  expect(endpoint.timesEmbedded(text)).toBe(1);
  const stranger = await service.organization();
  const theirs = await service.agent(stranger.key);
  await putDocument(service, stranger, theirs, { key: 'again', texts: [text] });
  await untilEmbedded(service, theirs, { clock });
  expect(endpoint.timesEmbedded(text)).toBe(2);
});

it('the vectors of a removed document are removed', async () => {
  await put(...sentences(4));
  await untilEmbedded(service, agentId, { clock });
  await service.database.query('delete from knowledge_documents where agent_id = $1::uuid', [agentId]);
  expect(await vectorsOf(service, agentId)).toEqual({ chunks: 0, models: {}, unembeddable: 0 });
});

it('a search uses keywords alone when the query has no vector, and logs it', async () => {
  await put(`the canteen ${agentId}`);
  await untilEmbedded(service, agentId, { clock });
  endpoint.fault = refusing(500);
  const found = await search(service, organization, agentId, `canteen ${agentId}`);
  expect(found).toMatchObject([{ text: `the canteen ${agentId}`, score: found[0]?.keywordScore, semanticScore: null }]);
});

it('a large document is embedded in batches of 64, each text once, by any number of workers', async () => {
  const replica = await service.replica();
  try {
    await put(...sentences(150));
    await putDocument(service, organization, agentId, { key: 'b', texts: [`one more ${agentId}`] });
    await untilEmbedded(service, agentId, { clock });
    const asked = endpoint.requests.filter(mine);
    expect(asked.flatMap(({ texts }) => texts)).toHaveLength(151);
    expect(Math.max(...asked.map(({ texts }) => texts.length))).toBe(64);
  } finally {
    await replica.close();
  }
});

it('if the model changes its vector size, all texts are embedded again while the former vectors serve', async () => {
  await put(...sentences(3));
  await untilEmbedded(service, agentId, { clock });
  endpoint.dimensions = 48;
  try {
    await putDocument(service, organization, agentId, { key: 'new', texts: [`changed ${agentId}`] });
    await until(async () => {
      const [row] = await service.database.query<{ dimensions: number }>(
        "select dimensions from knowledge_embedding_models where state = 'serving'",
      );
      return row?.dimensions === 48;
    }, 'the new size serves');
    await untilEmbedded(service, agentId, { clock });
    await until(async () => {
      const [found] = await search(service, organization, agentId, 'changed', { scoreThreshold: 0 });
      return typeof found?.semanticScore === 'number';
    }, 'queries are compared with the new vectors');
  } finally {
    endpoint.dimensions = 64;
  }
});
