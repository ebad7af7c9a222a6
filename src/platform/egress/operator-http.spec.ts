import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Canary } from '../../../test/support/canary.js';
import { EgressBench, failure, REQUEST } from '../../../test/support/egress-bench.js';
import { EgressRefused, OperatorHttp } from './index.js';

let bench: EgressBench;
let canary: Canary;

beforeAll(async () => {
  bench = await EgressBench.start();
  ({ canary } = bench);
});
afterEach(() => bench.closeClients());
afterAll(() => bench.close());

describe("the operator's hosts", () => {
  const operator = (): OperatorHttp => new OperatorHttp(bench.toCanary(), new Set([`127.0.0.1:${canary.port}`]));

  it('are reached though they are private', async () => {
    const answer = await operator().request(`${canary.url}/flows`, REQUEST);
    expect(await answer.body.text()).toBe('canary');
  });

  it.each(['http://93.184.215.14/', 'http://127.0.0.2/', 'no url'])('are the only ones that this client reaches (%s)', async (url) => {
    expect(await failure(operator().request(url, REQUEST))).toBeInstanceOf(EgressRefused);
  });

  it('are not reached by a customer, also not while a connection to them is open', async () => {
    await (await operator().request(canary.url, REQUEST)).body.text();
    const before = canary.requests.length;
    expect(await failure(bench.client().request(canary.url, REQUEST))).toBeInstanceOf(EgressRefused);
    expect(canary.requests).toHaveLength(before);
  });
});

describe('the size of an answer', () => {
  it('may depend on what kind of answer it is', async () => {
    canary.respond((request, response) => response.writeHead(200, { 'content-type': request.url === '/a' ? 'text/a' : 'text/b' }).end('12345'));
    const maxBytes = ({ headers }: { headers: Readonly<Record<string, string>> }): number => (headers['content-type'] === 'text/a' ? 5 : 4);
    const safe = bench.toCanary();
    expect(await (await safe.request(`${canary.url}/a`, { ...REQUEST, maxBytes })).body.text()).toBe('12345');
    expect(await failure((await safe.request(`${canary.url}/b`, { ...REQUEST, maxBytes })).body.text())).toMatchObject({ reason: 'too_large' });
  });
});
