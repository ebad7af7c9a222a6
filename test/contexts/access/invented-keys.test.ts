import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { formatApiKey } from '../../../src/access/domain/api-key-format.js';
import { type Answer, useService } from '../../support/harness.js';
import { StoppedClock } from '../../support/shifted-clock.js';
import { statementsOf } from '../../support/statements.js';

const BUDGET = 60;
/** Longer than failures are counted together. */
const WINDOW_MS = 61_000;
/** Longer than a credential is cached. */
const PAST_THE_CACHE_MS = 5_000;

const clock = new StoppedClock();
const service = useService({ clock });
beforeEach(() => {
  clock.moveOn(WINDOW_MS);
});

/** Well-formed, checksum and all. */
const invented = (): string => formatApiKey(randomBytes(32));

const read = (key: string): Promise<Answer> => service.http('GET', '/v1/assistants', { key });

async function useUpTheBudget(): Promise<void> {
  for (let failed = 0; failed < BUDGET; failed += 1) expect((await read(invented())).status).toBe(401);
}

describe('an address whose failed credentials have used up their budget', () => {
  it('is refused with each further invented key, and the database is not asked about any', async () => {
    await useUpTheBudget();
    const statements = await statementsOf(service.database, async () => {
      for (let tries = 0; tries < 10; tries += 1) {
        const { status, body, headers } = await read(invented());
        expect({ status, body }).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
    });
    expect(statements).toEqual([]);
  });

  it('keeps a key working that was in use before, which is looked up as ever', async () => {
    const { key } = await service.organization();
    expect((await read(key)).status).toBe(200);
    await useUpTheBudget();
    clock.moveOn(PAST_THE_CACHE_MS);
    const statements = await statementsOf(service.database, async () => {
      expect((await read(key)).status).toBe(200);
    });
    expect(statements.filter((sql) => sql.includes('from api_keys'))).toHaveLength(1);
  });

  it('has a key that was in use before refused once it is revoked', async () => {
    const organization = await service.organization();
    const { id, key } = await organization.keyWith(['chat']);
    expect((await read(key)).status).toBe(200);
    await service.cli('key', 'revoke', id);
    await useUpTheBudget();
    const statements = await statementsOf(service.database, async () => {
      expect((await read(key)).status).toBe(429);
    });
    expect(statements).toEqual([]);
  });

  it('is accepted with a good key that was never seen here once the window is over', async () => {
    const { key } = await service.organization();
    await useUpTheBudget();
    expect((await read(key)).status).toBe(429);
    clock.moveOn(WINDOW_MS);
    expect((await read(key)).status).toBe(200);
  });
});
