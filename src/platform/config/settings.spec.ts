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
