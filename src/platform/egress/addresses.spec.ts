import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { ADDRESS_CORPUS, misleadingUrls } from '../../../test/support/address-corpus.js';
import { failure, PUBLIC, REQUEST, ScriptedResolver, useEgressBench } from '../../../test/support/egress-bench.js';
import { type Dial, type EgressFailed, EgressRefused, type EgressRequest } from './index.js';

const bench = useEgressBench();

describe('an address outside the public internet', () => {
  it('has at least 190 spellings here', () => {
    expect(new Set(ADDRESS_CORPUS.map(({ host }) => host)).size).toBeGreaterThanOrEqual(190);
  });

  it('is not connected to, in any spelling', async () => {
    const before = bench.canary.connections;
    const dialled: string[] = [];
    const dial: Dial = (address, port) => {
      dialled.push(address);
      return connect({ host: address, port });
    };
    const answers = new Map(ADDRESS_CORPUS.map(({ host, answers: given }) => [lookedUp(host), given ?? []]));
    const safe = bench.client({ resolver: new ScriptedResolver((asked) => answers.get(asked) ?? []), dial });
    const reached: string[] = [];
    for (const { what, host } of ADDRESS_CORPUS) {
      for (const scheme of ['http', 'https']) {
        const error = await failure(safe.request(`${scheme}://${host}:${bench.canary.port}/`, REQUEST));
        if (!(error instanceof EgressRefused)) reached.push(`${scheme} ${what}: ${error.message}`);
      }
    }
    expect(reached).toEqual([]);
    expect(dialled).toEqual([]);
    expect(bench.canary.connections).toBe(before);
  });

  it('is not reached by ambiguous spellings, because the checked address is the one that is dialled', async () => {
    const dialled: string[] = [];
    const dial: Dial = (address) => {
      dialled.push(address);
      return connect({ host: '127.0.0.1', port: bench.canary.port });
    };
    // Octal in the URL standard, and so public addresses; decimal loopback addresses for other parsers.
    for (const host of ['0127.0.0.1', '02130706433']) {
      (await bench.client({ dial }).request(`http://${host}/`, REQUEST)).body.discard();
    }
    expect(dialled).toEqual(['87.0.0.1', '17.99.141.27']);
  });

  it('is reached by many of these spellings without a check', async () => {
    const before = bench.canary.requests.length;
    for (const { host } of ADDRESS_CORPUS) {
      if (host.includes('localhost')) continue;
      const url = URL.parse(`http://${host}:${bench.canary.port}/`);
      if (url && /^(127|0)\.|^\[::1?\]$|^\[::ffff:7f/.test(url.hostname)) {
        await fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
          (answer) => answer.text(),
          () => undefined,
        );
      }
    }
    expect(bench.canary.requests.length - before).toBeGreaterThan(60);
  });

  it('is not reached by misleading URLs', async () => {
    const before = bench.canary.connections;
    const safe = bench.client();
    for (const url of misleadingUrls(bench.canary.port)) {
      expect(await failure(safe.request(url, REQUEST))).toBeInstanceOf(EgressRefused);
    }
    expect(bench.canary.connections).toBe(before);
  });

  it('is not reached by a redirect to any of these spellings', async () => {
    const safe = bench.named({
      resolver: new ScriptedResolver((asked) => (asked === 'site.example' ? [PUBLIC] : ['10.0.0.1'])),
    });
    const before = bench.canary.requests.length;
    for (const { host } of ADDRESS_CORPUS) {
      bench.canary.respond((_request, response) =>
        response.writeHead(302, { location: encodeLocation(`http://${host}:${bench.canary.port}/secret`) }).end(),
      );
      const error = await failure(safe.request('http://site.example/', { ...REQUEST, redirects: { max: 5 } }));
      // An invalid Location is a failure of the server.
      expect(error instanceof EgressRefused || (error as EgressFailed).reason === 'redirect').toBe(true);
    }
    expect(bench.canary.requests.length - before).toBe(ADDRESS_CORPUS.length);
    expect(bench.canary.requests.slice(before).every(({ url }) => url === '/')).toBe(true);
  });

  it('has the same error for an internal and an unknown name, without addresses', async () => {
    const resolver = new ScriptedResolver((name) => (name === 'internal.example' ? ['10.11.12.13'] : []));
    const internal = await failure(bench.client({ resolver }).request('http://internal.example/', REQUEST));
    const absent = await failure(bench.client({ resolver }).request('http://absent.example/', REQUEST));
    expect(internal).toMatchObject({ message: absent.message, code: 'egress_refused', kind: 'unprocessable' });
    expect(internal.message).not.toMatch(/\d|example/);
  });
});

describe('a name', () => {
  it('is resolved once, and the connection goes to one of these addresses', async () => {
    // A rebinding name server: a public address for the check, a private one later.
    const resolver = new ScriptedResolver((_name, count) => (count === 1 ? [PUBLIC] : ['127.0.0.1']));
    const dialled: string[] = [];
    const dial: Dial = (address) => {
      dialled.push(address);
      return connect({ host: '127.0.0.1', port: bench.canary.port });
    };
    const safe = bench.client({ resolver, dial });
    const answer = await safe.request('http://rebound.example/', REQUEST);
    expect(await answer.body.text()).toBe('canary');
    expect(resolver.names).toEqual(['rebound.example']);
    expect(dialled).toEqual([PUBLIC]);
    const second = bench.client({ resolver, dial });
    expect(await failure(second.request('http://rebound.example/', REQUEST))).toBeInstanceOf(EgressRefused);
    expect(dialled).toEqual([PUBLIC]);
  });

  it('whose first address does not respond is reached at the next', async () => {
    const dialled: string[] = [];
    const dial: Dial = (address) => {
      dialled.push(address);
      return connect({ host: '127.0.0.1', port: dialled.length === 1 ? 1 : bench.canary.port });
    };
    const resolver = new ScriptedResolver(() => ['2606:2800:21f::1', PUBLIC, '93.184.215.15']);
    const answer = await bench.client({ resolver, dial }).request('http://many.example/', REQUEST);
    expect(answer.status).toBe(200);
    answer.body.discard();
    expect(dialled).toEqual([PUBLIC, '93.184.215.15']);
  });
});

describe('EGRESS_ALLOW', () => {
  it('exempts only the host and port that it names, also for http hooks', async () => {
    const safe = bench.client({ allow: [`127.0.0.1:${bench.canary.port}`, `hooks.internal:${bench.canary.port}`] });
    const ask = async (url: string, purpose: EgressRequest['purpose']): Promise<string> =>
      (await safe.request(url, { ...REQUEST, purpose })).body.text();
    expect(await ask(`http://127.0.0.1:${bench.canary.port}/`, 'crawl')).toBe('canary');
    expect(await ask(`http://0x7f.1:${bench.canary.port}/`, 'hook')).toBe('canary');
    expect(await ask(`http://hooks.internal.:${bench.canary.port}/`, 'hook')).toBe('canary');
    await expect(ask(`http://127.0.0.2:${bench.canary.port}/`, 'crawl')).rejects.toThrow(EgressRefused);
    await expect(ask(`http://127.0.0.1:${bench.canary.port + 1}/`, 'crawl')).rejects.toThrow(EgressRefused);
    await expect(ask(`http://[::ffff:127.0.0.1]:${bench.canary.port}/`, 'crawl')).rejects.toThrow(EgressRefused);
    await expect(ask(`http://x.hooks.internal:${bench.canary.port}/`, 'crawl')).rejects.toThrow(EgressRefused);
  });

  it('is required for a hook over plain http', async () => {
    const error = await failure(bench.named().request('http://public.example/', { ...REQUEST, purpose: 'hook' }));
    expect(error.message).toBe('The URL must be an https URL.');
  });
});

/** The name that is resolved for a host of the corpus. */
function lookedUp(host: string): string {
  return (URL.parse(`http://${host}/`)?.hostname ?? '').replace(/\.$/, '');
}

/** Headers contain bytes; a Location with other characters is sent as UTF-8. */
function encodeLocation(location: string): string {
  return Buffer.from(location, 'utf8').toString('latin1');
}
