import { describe, expect, it } from '@jest/globals';
import { failure, REQUEST, useEgressBench } from '../../../test/support/egress-bench.js';
import { EgressRefused, OperatorHttp } from './index.js';

const bench = useEgressBench();

describe("the operator's hosts", () => {
  const operator = (): OperatorHttp => new OperatorHttp(bench.toCanary(), new Set([`127.0.0.1:${bench.canary.port}`]));

  it('are reached although they are private', async () => {
    const answer = await operator().request(`${bench.canary.url}/flows`, REQUEST);
    expect(await answer.body.text()).toBe('canary');
  });

  it.each(['http://93.184.215.14/', 'http://127.0.0.2/', 'no url'])(
    'are the only ones that this client reaches (%s)',
    async (url) => {
      expect(await failure(operator().request(url, REQUEST))).toBeInstanceOf(EgressRefused);
    },
  );

  it('are not reached by a customer, even while a connection to them is open', async () => {
    await (await operator().request(bench.canary.url, REQUEST)).body.text();
    const before = bench.canary.requests.length;
    expect(await failure(bench.client().request(bench.canary.url, REQUEST))).toBeInstanceOf(EgressRefused);
    expect(bench.canary.requests).toHaveLength(before);
  });
});

describe('the size limit of a response', () => {
  it('may depend on the response', async () => {
    bench.canary.respond((request, response) =>
      response.writeHead(200, { 'content-type': request.url === '/a' ? 'text/a' : 'text/b' }).end('12345'),
    );
    const maxBytes = ({ headers }: { headers: Readonly<Record<string, string>> }): number =>
      headers['content-type'] === 'text/a' ? 5 : 4;
    const safe = bench.toCanary();
    expect(await (await safe.request(`${bench.canary.url}/a`, { ...REQUEST, maxBytes })).body.text()).toBe('12345');
    expect(
      await failure((await safe.request(`${bench.canary.url}/b`, { ...REQUEST, maxBytes })).body.text()),
    ).toMatchObject({ reason: 'too_large' });
  });
});
