import { describe, expect, it } from '@jest/globals';
import { InvalidSetting } from './invalid-setting.js';
import { readSettings } from './settings.js';

function gatewayIn(environment: Readonly<Record<string, string>>): object {
  return readSettings(environment, { role: 'all', demo: false }).gateway;
}

describe('the settings of the routing gateway', () => {
  it('have defaults, and are read without a trailing slash and in lower case', () => {
    expect(gatewayIn({})).toEqual({
      baseUrl: 'https://gateway.ai.cloudflare.com/v1',
      tokenHeader: 'cf-aig-authorization',
    });
    const set = { GATEWAY_BASE_URL: 'http://gateway:8080/base/', GATEWAY_TOKEN_HEADER: 'X-Gateway-Token' };
    expect(gatewayIn(set)).toEqual({ baseUrl: 'http://gateway:8080/base', tokenHeader: 'x-gateway-token' });
  });

  it.each(['Authorization', 'x-api-key', 'host', 'two words', 'a:b'])('refuse %j as a header', (name) => {
    expect(() => gatewayIn({ GATEWAY_TOKEN_HEADER: name })).toThrow(InvalidSetting);
    expect(() => gatewayIn({ GATEWAY_TOKEN_HEADER: name })).toThrow(/^GATEWAY_TOKEN_HEADER: /);
  });
});

describe('the master keys', () => {
  const read = (environment: Readonly<Record<string, string>>) =>
    readSettings(environment, { role: 'all', demo: false });
  const [one, two] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')];

  it('may be two', () => {
    const { secretsKey, secretsKeyFallback } = read({ SECRETS_KEY: one, SECRETS_KEY_FALLBACK: two });
    expect([secretsKey, secretsKeyFallback]).toEqual([one, two]);
  });

  it.each([
    ['is no key', { SECRETS_KEY: one, SECRETS_KEY_FALLBACK: 'canary' }],
    ['is the key that is written under', { SECRETS_KEY: one, SECRETS_KEY_FALLBACK: one }],
    ['stands alone', { SECRETS_KEY_FALLBACK: two }],
  ])('stop the start in one line when the second %s', (_what, environment) => {
    expect(() => read(environment)).toThrow(InvalidSetting);
    expect(() => read(environment)).toThrow(/^SECRETS_KEY_FALLBACK: [^\n]*$/);
    expect(() => read(environment)).not.toThrow(/canary/);
  });
});

describe('the trusted proxies', () => {
  const read = (list: string) => readSettings({ TRUST_PROXY: list }, { role: 'all', demo: false }).trustedProxies;

  it('are none by default', () => {
    expect(read('')).toEqual([]);
  });

  it('are addresses, networks and names of networks', () => {
    expect(read('203.0.113.7, 2001:db8::/32,::1')).toEqual(['203.0.113.7/32', '2001:db8::/32', '::1/128']);
    expect(read('loopback')).toEqual(['127.0.0.0/8', '::1/128']);
    expect(read('private')).toEqual(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']);
  });

  it.each([
    '1',
    'true',
    '10',
    '010.0.0.1',
    'proxy.internal',
    '10.0.0.0/33',
    '0.0.0.0/0',
    '::/0',
    '::1/129',
    'fe80::1%eth0',
    '10.0.0.1,',
    '10.0.0.0/255.0.0.0',
  ])('stop the start in one line when they are %j', (list) => {
    expect(() => read(list)).toThrow(/^TRUST_PROXY: must be [^\n]*$/);
  });
});

describe('the times of a stop', () => {
  const CLUSTER = {
    DATABASE_URL: 'postgresql://localhost/x',
    REDIS_URL: 'redis://localhost',
    SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
  };
  const read = (environment: Readonly<Record<string, string>>) => {
    const { shutdownMs, shutdownDelayMs } = readSettings(environment, { role: 'all', demo: false });
    return [shutdownMs, shutdownDelayMs];
  };

  it('fit into the 30 seconds of Kubernetes, and have a delay where there may be other processes', () => {
    expect(read({})).toEqual([25_000, 0]);
    expect(read(CLUSTER)).toEqual([25_000, 5_000]);
    expect(read({ SHUTDOWN_SECONDS: '10', SHUTDOWN_DELAY_SECONDS: '9' })).toEqual([10_000, 9_000]);
  });

  it('leave time for runs when only the whole time is set', () => {
    expect(read({ ...CLUSTER, SHUTDOWN_SECONDS: '4' })).toEqual([4_000, 0]);
    expect(read({ ...CLUSTER, SHUTDOWN_SECONDS: '10' })).toEqual([10_000, 2_000]);
  });

  it.each(['-1', '0.5', 'soon', '25', '60'])('refuse a delay of %j in one line', (delay) => {
    expect(() => read({ SHUTDOWN_DELAY_SECONDS: delay })).toThrow(/^SHUTDOWN_DELAY_SECONDS: [^\n]*$/);
  });
});

describe('a wrong setting', () => {
  it.each([
    ['DATABASE_URL', 'postgresql://u:canary%@host/db'],
    ['DATABASE_URL', 'postgresql://u:canary%ff@host/db'],
    ['DATABASE_DIRECT_URL', 'postgresql://u:canary%@host/db'],
    ['SECRETS_KEY', `${Buffer.alloc(32, 1).toString('base64')}canary`],
    ['SHUTDOWN_SECONDS', '3601'],
    ['SHUTDOWN_SECONDS', '0'],
    ['METRICS_PORT', '0x10'],
    ['METRICS_PORT', '65536'],
    ['PORT', '1e3'],
    ['DATABASE_POOL', '1'],
  ])('stops the start in one line without its value: %s=%s', (name, value) => {
    const read = () => readSettings({ [name]: value }, { role: 'all', demo: false });
    expect(read).toThrow(InvalidSetting);
    expect(read).toThrow(new RegExp(`^${name}: must [^\\n]*$`));
    expect(read).not.toThrow(/canary|0x10|1e3|65536|3601/);
  });

  it('does not include a blank one, which counts as unset', () => {
    expect(readSettings({ METRICS_PORT: ' ', PORT: '' }, { role: 'all', demo: false })).toMatchObject({
      metricsPort: undefined,
      port: 3000,
    });
  });
});
