import { describe, expect, it } from '@jest/globals';
import { redisServers } from './redis-url.js';
import { InvalidSetting } from './invalid-setting.js';
import { readSettings } from './settings.js';

describe('REDIS_URL', () => {
  const read = (url: string): string | undefined =>
    readSettings(
      { DATABASE_URL: 'postgresql://host/db', SECRETS_KEY: Buffer.alloc(32).toString('base64'), REDIS_URL: url },
      { role: 'all', demo: false },
    ).redisUrl;

  it('names one server', () => {
    for (const url of ['redis://host', 'rediss://user:pass@host:6380/3']) {
      expect(read(url)).toBe(url);
      expect(redisServers(url)).toBeUndefined();
    }
  });

  it('names sentinels, the master and how to get in', () => {
    const url = 'rediss+sentinel://app:p%40ss:word@one:1111,[::1],two/main/3?sentinelPassword=watch';
    expect(read(url)).toBe(url);
    expect(redisServers(url)).toEqual({
      kind: 'sentinel',
      isEncrypted: true,
      addresses: [
        { host: 'one', port: 1111 },
        { host: '::1', port: 26_379 },
        { host: 'two', port: 26_379 },
      ],
      username: 'app',
      password: 'p@ss:word',
      master: 'main',
      database: 3,
      sentinelPassword: 'watch',
    });
  });

  it('names nodes of a cluster', () => {
    expect(redisServers('redis+cluster://:secret@one,two:7000')).toMatchObject({
      kind: 'cluster',
      isEncrypted: false,
      addresses: [
        { host: 'one', port: 6_379 },
        { host: 'two', port: 7_000 },
      ],
      username: undefined,
      password: 'secret',
    });
  });

  it.each([
    'http://canary',
    'canary',
    'redis+sentinel://canary:26379',
    'redis+cluster://canary:6379/main',
    'redis+cluster://canary:port',
    'redis+cluster://one,,canary',
    'redis://host/canary',
    'redis://:canary%@host',
    'redis+sentinel://:canary%zz@host/main',
    'redis+cluster://:canary%ff@host',
  ])('stops the start in one line when it is %j', (url) => {
    expect(() => read(url)).toThrow(InvalidSetting);
    expect(() => read(url)).toThrow(/^REDIS_URL: must (be|have) [^\n]*$/);
    expect(() => read(url)).not.toThrow(/canary/);
  });
});

describe('DATABASE_DIRECT_URL', () => {
  it('stops the start in one line when it stands alone', () => {
    const alone = { DATABASE_DIRECT_URL: 'postgresql://u:canary@host/db' };
    expect(() => readSettings(alone, { role: 'all', demo: false })).toThrow(
      /^DATABASE_DIRECT_URL: needs DATABASE_URL[^\n]*$/,
    );
  });
});
