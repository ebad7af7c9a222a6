import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { CERTIFICATE } from '../../../test/support/certificate.js';
import {
  type ClientOptions,
  failure,
  PUBLIC,
  REQUEST,
  ScriptedResolver,
  useEgressBench,
} from '../../../test/support/egress-bench.js';
import { DomainError } from '../errors/index.js';
import { EgressFailed, EgressRefused, type EgressRequest, isConnectionHeader } from './index.js';

const bench = useEgressBench();

describe('a redirect', () => {
  const SECRETS = { authorization: 'Bearer secret', 'x-api-key': 'secret', cookie: 'secret', 'X-Custom': 'secret' };
  const redirectTo =
    (location: string, status = 302): RequestListener =>
    (request, response) => {
      if (request.url === '/') response.writeHead(status, { location }).end();
      else response.end('there');
    };

  it('drops every header that could be a secret at another origin, also on the way back', async () => {
    bench.canary.respond((request, response) => {
      const next: Record<string, string> = { '/': 'http://b.example/1', '/1': 'http://a.example/2', '/2': '/3' };
      const location = next[request.url ?? ''];
      if (location === undefined) response.end('there');
      else response.writeHead(302, { location }).end();
    });
    const from = bench.canary.requests.length;
    const headers = { ...SECRETS, 'Accept-Language': 'en' };
    const answer = await bench.named().request('http://a.example/', { ...REQUEST, headers, redirects: { max: 5 } });
    expect(await answer.body.text()).toBe('there');
    expect(answer.url).toBe('http://a.example/3');
    const [first, ...others] = bench.canary.requests.slice(from);
    expect(first?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-custom': 'secret' });
    expect(others).toHaveLength(3);
    for (const { headers: sent } of others) {
      expect(JSON.stringify(sent)).not.toContain('secret');
      expect(sent['accept-language']).toBe('en');
    }
  });

  it('keeps headers within one origin', async () => {
    bench.canary.respond(redirectTo('/next'));
    const answer = await bench
      .named()
      .request('http://a.example/', { ...REQUEST, headers: SECRETS, redirects: { max: 1 } });
    answer.body.discard();
    expect(bench.canary.requests.at(-1)?.headers).toMatchObject({ authorization: 'Bearer secret' });
  });

  it.each([['http://a.example:8080/x'], ['http://a.example./x'], ['http://b.a.example/x']])(
    'to %s is to another origin',
    async (location) => {
      bench.canary.respond(redirectTo(location));
      const answer = await bench
        .named()
        .request('http://a.example/', { ...REQUEST, headers: SECRETS, redirects: { max: 1 } });
      answer.body.discard();
      expect(JSON.stringify(bench.canary.requests.at(-1)?.headers)).not.toContain('secret');
    },
  );

  it.each(['hook', 'mcp'] as const)('is never followed for the purpose %s', async (purpose) => {
    const allow = [`127.0.0.1:${bench.canary.port}`];
    bench.canary.respond(redirectTo('/next'));
    const from = bench.canary.requests.length;
    const answer = await bench
      .client({ allow })
      .request(`${bench.canary.url}/`, { ...REQUEST, purpose, redirects: { max: 5 } });
    expect(answer.status).toBe(302);
    answer.body.discard();
    expect(bench.canary.requests).toHaveLength(from + 1);
  });

  it('sends no body to another origin, and changes a POST to a GET as HTTP does', async () => {
    bench.canary.respond(redirectTo('http://b.example/x', 307));
    const post: EgressRequest = { ...REQUEST, method: 'POST', body: 'secret', redirects: { max: 5 } };
    expect(await failure(bench.named().request('http://a.example/', post))).toMatchObject({ reason: 'redirect' });
    bench.canary.respond(redirectTo('http://b.example/x', 303));
    (await bench.named().request('http://a.example/', post)).body.discard();
    expect(bench.canary.requests.at(-1)).toMatchObject({ method: 'GET', url: '/x' });
    expect(bench.canary.requests.at(-1)?.headers['content-length']).toBeUndefined();
  });

  it('is followed as often as allowed, if the check of the caller accepts it', async () => {
    bench.canary.respond((_request, response) => response.writeHead(301, { location: '/again' }).end());
    const from = bench.canary.requests.length;
    const error = await failure(bench.named().request('http://a.example/', { ...REQUEST, redirects: { max: 3 } }));
    expect(error).toMatchObject({ reason: 'redirect' });
    expect(bench.canary.requests).toHaveLength(from + 4);
    const check = (url: URL): boolean => url.hostname === 'a.example' && url.pathname !== '/again';
    await failure(bench.named().request('http://a.example/', { ...REQUEST, redirects: { max: 3, check } }));
    expect(bench.canary.requests).toHaveLength(from + 5);
  });
});

describe('a request', () => {
  it('does not let callers set headers of the connection', async () => {
    const headers = {
      ...{
        Host: 'internal',
        'Content-Length': '1',
        'Transfer-Encoding': 'chunked',
        Connection: 'upgrade',
        'X-Kept': '1',
      },
      ...{
        'Keep-Alive': 'timeout=1',
        'Http2-Settings': 'x',
        'Accept-Encoding': 'compress',
        'Proxy-Authorization': 'x',
      },
    };
    expect(Object.keys(headers).filter((name) => !isConnectionHeader(name))).toEqual(['X-Kept']);
    (await bench.toCanary().request(bench.canary.url, { ...REQUEST, headers })).body.discard();
    const sent = bench.canary.requests.at(-1)?.headers;
    expect(sent).toMatchObject({
      host: `127.0.0.1:${bench.canary.port}`,
      'x-kept': '1',
      'user-agent': 'agent-service/1.0',
    });
    for (const name of ['transfer-encoding', 'keep-alive', 'http2-settings', 'proxy-authorization'])
      expect(sent).not.toHaveProperty(name);
    expect(sent?.['accept-encoding']).not.toContain('compress');
  });

  it.each<Record<string, string>>([{ 'x-a': 'b\r\nx-injected: 1' }, { 'x a': 'b' }])(
    'with a header that is none is refused',
    async (headers) => {
      expect(await failure(bench.toCanary().request(bench.canary.url, { ...REQUEST, headers }))).toBeInstanceOf(
        EgressRefused,
      );
    },
  );

  it('to a closed port fails without a reason in the message', async () => {
    const error = await failure(bench.client({ allow: ['127.0.0.1:1'] }).request('http://127.0.0.1:1/', REQUEST));
    expect(error).toMatchObject({ reason: 'connect', message: 'The host of the URL cannot be reached.' });
    expect(error).toBeInstanceOf(DomainError);
  });

  it('over https checks the certificate against the name of the URL, not against the address', async () => {
    const { cert, key } = CERTIFICATE;
    const server = createServer({ cert, key }, (_request, response) => response.end('secured'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const options: ClientOptions = {
      resolver: new ScriptedResolver(() => [PUBLIC]),
      dial: () => connect({ host: '127.0.0.1', port }),
    };
    try {
      const trusting = bench.client({ ...options, ca: cert });
      const hook: EgressRequest = { ...REQUEST, purpose: 'hook' };
      expect(await (await trusting.request('https://hooks.example/', hook)).body.text()).toBe('secured');
      expect(await failure(trusting.request('https://other.example/', hook))).toBeInstanceOf(EgressFailed);
      expect(await failure(bench.client(options).request('https://hooks.example/', hook))).toBeInstanceOf(EgressFailed);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
