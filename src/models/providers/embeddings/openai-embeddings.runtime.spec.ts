import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerOf } from '../../../../test/support/embedding-server.js';
import { FakeUpstream, type Script } from '../../../../test/support/fake-upstream.js';
import { SystemClock } from '../../../platform/clock/index.js';
import type { EmbeddingResult } from '../../domain/embedding-model.js';
import { ModelTransport } from '../shared/transport.js';
import { OpenAiEmbeddings } from './openai-embeddings.runtime.js';

let upstream: FakeUpstream;
let transport: ModelTransport;
const clock = new SystemClock();

beforeAll(async () => {
  upstream = await FakeUpstream.start();
  transport = new ModelTransport(clock);
});
afterAll(async () => {
  await transport.onModuleDestroy();
  await upstream.close();
});

function endpoint(apiKey?: string, limits?: { answerBytes: number; answerMs: number }): OpenAiEmbeddings {
  return new OpenAiEmbeddings({ baseUrl: `${upstream.url}/v1`, apiKey, model: 'm-1' }, transport, clock, limits);
}

async function answered(
  script: Script,
  texts = ['a', 'b'],
  subject = endpoint('key-canary'),
): Promise<EmbeddingResult> {
  upstream.respond(script);
  return subject.embed('m-1', texts, new AbortController().signal);
}

const answer =
  (body: unknown): Script =>
  (exchange) =>
    exchange.refuse(200, body);

describe('an embeddings endpoint', () => {
  it('gets a request for numbers with its model and key, and its vectors are put in the order of the texts', async () => {
    const data = [
      { index: 1, embedding: [3, 4] },
      { index: 0, embedding: [1, 2] },
    ];
    expect(await answered(answer({ data }))).toEqual({
      kind: 'vectors',
      vectors: [
        [1, 2],
        [3, 4],
      ],
      dimensions: 2,
    });
    expect(upstream.requests.at(-1)).toMatchObject({
      path: '/v1/embeddings',
      headers: { authorization: 'Bearer key-canary' },
      body: { model: 'm-1', input: ['a', 'b'], encoding_format: 'float' },
    });
  });

  it('gets no key if none is configured', async () => {
    await answered(answer(answerOf([[1]])), ['a'], endpoint());
    expect(upstream.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['half of the vectors', answerOf([[1, 2]])],
    ['vectors of two sizes', answerOf([[1, 2], [1]])],
    ['an empty vector', answerOf([[], []])],
    [
      'no number',
      {
        data: [
          { index: 0, embedding: [1, null] },
          { index: 1, embedding: [1, 2] },
        ],
      },
    ],
    [
      'a number that 32 bits do not hold',
      answerOf([
        [1, 1e300],
        [1, 2],
      ]),
    ],
    ['a vector without the number of its text', { data: [{ embedding: [1] }, { index: 1, embedding: [1] }] }],
    [
      'one text twice',
      {
        data: [
          { index: 0, embedding: [1] },
          { index: 0, embedding: [1] },
        ],
      },
    ],
    ['another thing', { hello: 'world' }],
    ['no JSON', '{"data": ['],
  ])('that answers %s gives a wrong answer', async (_what, body) => {
    expect(await answered(answer(body))).toMatchObject({ kind: 'wrong_answer' });
  });

  it.each<[number, Record<string, string>, object]>([
    [429, { 'retry-after': '7' }, { kind: 'rate_limited', retryAfterSeconds: 7 }],
    [429, {}, { kind: 'rate_limited', retryAfterSeconds: undefined }],
    [503, { 'retry-after': '3' }, { kind: 'unavailable', retryAfterSeconds: 3 }],
    [500, {}, { kind: 'unavailable' }],
    [400, {}, { kind: 'refused', status: 400 }],
    [401, {}, { kind: 'refused', status: 401 }],
    [404, {}, { kind: 'refused', status: 404 }],
  ])('that answers %d %j is classified, and gets one request', async (status, headers, expected) => {
    const before = upstream.requests.length;
    const result = await answered((exchange) => exchange.refuse(status, 'the key key-canary', headers));
    expect(result).toMatchObject(expected);
    expect(JSON.stringify(result)).not.toContain('canary');
    expect(upstream.requests.length).toBe(before + 1);
  });

  it('that breaks off, is silent or sends too much fails the request', async () => {
    expect(await answered((exchange) => exchange.reset())).toMatchObject({ kind: 'unavailable' });
    expect(await answered(() => undefined, ['a'], endpoint('k', { answerBytes: 1_000, answerMs: 50 }))).toMatchObject({
      kind: 'unavailable',
    });
    const large = answerOf([new Array<number>(2_000).fill(0.5)]);
    expect(await answered(answer(large), ['a'], endpoint('k', { answerBytes: 1_000, answerMs: 60_000 }))).toMatchObject(
      { kind: 'wrong_answer' },
    );
  });

  it.each<[string, string]>([
    ['lists in lists', '['.repeat(8_000_000) + ']'.repeat(8_000_000)],
    ['millions of objects', `{"data":[${'{},'.repeat(4_000_000)}{}]}`],
    ['millions of members', `{${Array.from({ length: 1_000_000 }, (_, index) => `"m${index}":0`).join(',')}}`],
    ['millions of numbers', `{"data":[{"index":0,"embedding":[${'0,'.repeat(7_000_000)}0]}]}`],
  ])('that answers %s fails the request before they are parsed', async (_what, body) => {
    expect(await answered(answer(body), ['a'])).toMatchObject({
      kind: 'wrong_answer',
      detail: expect.stringMatching(/more than \d+ (values|lists)/),
    });
  });

  it('may return the largest vectors for the most texts', async () => {
    const vectors = Array.from({ length: 64 }, () => new Array<number>(16_000).fill(1));
    expect(
      await answered(
        answer(answerOf(vectors)),
        vectors.map(() => 'a'),
      ),
    ).toMatchObject({ kind: 'vectors', dimensions: 16_000 });
  });

  it('gets no further request after the caller has aborted', async () => {
    const caller = new AbortController();
    upstream.respond(() => caller.abort(new Error('aborted')));
    await expect(endpoint('k').embed('m-1', ['a'], caller.signal)).rejects.toThrow('aborted');
  });
});
