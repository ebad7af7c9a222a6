import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Settings } from '../../../src/platform/config/index.js';
import { useService } from '../../support/harness.js';
import { clusterOnly } from '../../support/modes.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

const service = useService();
const page = readFileSync('docs/guide/stored-data.md', 'utf8');

/** Made only where the database has the extension `vector`. */
const WITH_VECTORS_ONLY = 'knowledge_vectors';

/** The names in the first column of the table in a section of the page. */
function namesIn(heading: string): string[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(heading)) ?? '';
  const rows = [...section.matchAll(/^\| (`[^|]*`) +\|/gm)].map(([, cell = '']) => cell);
  return rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

describe('the page about stored data', () => {
  it('names every table of the database once, and no other', async () => {
    // The tables of migrations, and of the job queue, which the page mentions in its text.
    const tables = await service.database.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public'
       and tablename not like '%migrations' and tablename not like 'bullmq%'`,
    );
    const stored = new Set(tables.map(({ name }) => name));
    const named = namesIn('PostgreSQL').filter((name) => stored.has(name) || name !== WITH_VECTORS_ONLY);
    expect(named.toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  });
});

clusterOnly('the page about stored data', () => {
  it('names the beginning of every key in Redis', async () => {
    const talk = await Talk.start(service);
    service.models.next(says('Hello.'));
    await talk.run('Hi');
    const { redisUrl = '', redisPrefix } = service.app.get(Settings);
    const redis = new Redis(redisUrl);
    const keys = await redis.keys(`${redisPrefix}*`);
    await redis.quit();
    const documented = namesIn('Redis').map((name) => redisPrefix + name.slice('agents'.length));
    expect(documented).toHaveLength(3);
    for (const beginning of documented)
      expect({ beginning, used: keys.some((key) => key.startsWith(beginning)) }).toEqual({ beginning, used: true });
    expect(keys.filter((key) => !documented.some((beginning) => key.startsWith(beginning)))).toEqual([]);
  });
});
