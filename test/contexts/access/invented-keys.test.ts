import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { formatApiKey } from '../../../src/access/domain/api-key-format.js';
import { type Answer, type TestService, useService } from '../../support/harness.js';
import { StoppedClock } from '../../support/shifted-clock.js';
import { statementsOf } from '../../support/statements.js';

const BUDGET = 60;
/** Longer than the window in which failures are counted. */
const WINDOW_MS = 61_000;
/** Longer than a credential is cached. */
const PAST_THE_CACHE_MS = 5_000;
/** How many statements with invented keys a process runs without a pause, and the pause before the next one. */
const BURST = 12;
const PAUSE_MS = 1_250;

const clock = new StoppedClock();
const service = useService({ clock });
const behindProxies = useService({ clock, environment: { TRUST_PROXY: 'loopback, 10.0.0.0/8' } });
beforeEach(() => {
  clock.moveOn(WINDOW_MS);
});

/** Well-formed, with a valid checksum. */
const invented = (): string => formatApiKey(randomBytes(32));

const read = (key: string, to: TestService = service, headers: Record<string, string> = {}): Promise<Answer> =>
  to.http('GET', '/v1/assistants', { key, headers });

/** Uses malformed keys, which cost no statement. */
async function useUpTheBudget(to: TestService = service, headers: Record<string, string> = {}): Promise<void> {
  for (let failed = 0; failed < BUDGET; failed += 1) expect((await read('ak_wrong', to, headers)).status).toBe(401);
}

const onKeys = (statements: readonly string[]): string[] => statements.filter((sql) => sql.includes('from api_keys'));

describe('an address whose failed credentials have used up their budget', () => {
  it('gets 429 for each further invented key', async () => {
    await useUpTheBudget();
    for (const key of [invented(), invented(), 'ak_wrong', invented()]) {
      const { status, body, headers } = await read(key);
      expect({ status, body }).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  it('is served with a valid key that this process has never seen', async () => {
    const { key } = await service.organization();
    await useUpTheBudget();
    expect((await read(invented())).status).toBe(429);
    expect((await read(key)).status).toBe(200);
  });

  it('gets 429 for a revoked key', async () => {
    const organization = await service.organization();
    const { id, key } = await organization.keyWith(['chat']);
    expect((await read(key)).status).toBe(200);
    await service.cli('key', 'revoke', id);
    await useUpTheBudget();
    expect((await read(key)).status).toBe(429);
  });
});

describe('a flood of invented keys', () => {
  it('shares one lookup a pause, which also finds a valid key that this process has never seen', async () => {
    const { key } = await service.organization();
    for (let tries = 0; tries < BURST; tries += 1) await read(invented());
    let pauses = 0;
    const passing = setInterval(() => {
      clock.moveOn(PAUSE_MS);
      pauses += 1;
    }, 100);
    let statements: readonly string[];
    try {
      statements = await statementsOf(service.database, async () => {
        const flood = Promise.all(Array.from({ length: 200 }, () => read(invented())));
        expect((await read(key)).status).toBe(200);
        expect(new Set((await flood).map(({ status }) => status))).toEqual(new Set([401, 429]));
      });
    } finally {
      clearInterval(passing);
    }
    expect(onKeys(statements).length).toBeLessThanOrEqual(Math.min(pauses, 48));
  });

  it('does not delay a key in use, which is looked up by itself', async () => {
    const { key } = await service.organization();
    expect((await read(key)).status).toBe(200);
    clock.moveOn(PAST_THE_CACHE_MS);
    for (let tries = 0; tries < BURST; tries += 1) await read(invented());
    const waiting = read(invented());
    const statements = await statementsOf(service.database, async () => {
      expect((await read(key)).status).toBe(200);
    });
    clock.moveOn(PAUSE_MS);
    expect((await waiting).status).toBe(401);
    expect(onKeys(statements)).toHaveLength(1);
  });
});

describe('behind proxies that TRUST_PROXY names', () => {
  const from = (forwardedFor: string): Record<string, string> => ({ 'x-forwarded-for': forwardedFor });

  it('failures are counted for the client that the nearest proxy names, not for what a client writes', async () => {
    await useUpTheBudget(behindProxies, from('203.0.113.5, 198.51.100.1, 10.0.0.7'));
    for (const chain of ['198.51.100.1', '203.0.113.99, 198.51.100.1', 'garbage, 198.51.100.1, 10.1.2.3']) {
      expect((await read('ak_wrong', behindProxies, from(chain))).status).toBe(429);
    }
    for (const chain of ['198.51.100.2', '203.0.113.5, 198.51.100.2', '2001:db8::1', '198.51.100.1, garbage']) {
      expect((await read('ak_wrong', behindProxies, from(chain))).status).toBe(401);
    }
  });

  it('X-Forwarded-For of other peers is ignored', async () => {
    await useUpTheBudget(service, from('198.51.100.1'));
    expect((await read('ak_wrong', service, from('198.51.100.2'))).status).toBe(429);
  });
});
