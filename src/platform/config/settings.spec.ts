import { describe, expect, it } from '@jest/globals';
import { InvalidSetting, readSettings } from './settings.js';

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
  const read = (environment: Readonly<Record<string, string>>) => readSettings(environment, { role: 'all', demo: false });
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
