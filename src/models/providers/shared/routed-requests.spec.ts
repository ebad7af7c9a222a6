import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeUpstream, REFUSED_URL } from '../../../../test/support/fake-upstream.js';
import { failureOf, requestOf, callRuntime, textOf } from '../../../../test/support/model-calls.js';
import { anthropicWire, openaiWire } from '../../../../test/support/provider-wire.js';
import { SystemClock } from '../../../platform/clock/index.js';
import type { ModelRuntime } from '../../domain/model-runtime.js';
import { routeThrough } from '../gateway-routes.js';
import { ModelTransport } from './transport.js';

const clock = new SystemClock();

describe.each([anthropicWire, openaiWire])('a call of $provider through a gateway', (wire) => {
  let gateway: FakeUpstream;
  let transport: ModelTransport;
  let runtime: ModelRuntime;

  beforeEach(async () => {
    gateway = await FakeUpstream.start((exchange) => exchange.sendAll(wire.text(['ok'])));
    transport = new ModelTransport(clock);
    runtime = wire.runtime({ managedKey: 'managed-1', baseUrl: REFUSED_URL }, transport, clock);
  });

  afterEach(async () => {
    await transport.onModuleDestroy();
    await gateway.close();
  });

  function routed(token: string, gatewayName = 'main') {
    const opened = { edgeAccountId: 'acc', gatewayName, token };
    return routeThrough(
      opened,
      { type: wire.provider, model: wire.model },
      { baseUrl: gateway.url, tokenHeader: 'x-token' },
    );
  }

  it('keeps the tokens and addresses of gateways with the same key apart', async () => {
    for (const name of ['one', 'two', 'one']) {
      const outcome = await callRuntime(runtime, requestOf(wire, { route: routed(`token-${name}`, name) }));
      expect(textOf(outcome.events)).toBe('ok');
    }
    const seen = gateway.requests.map(({ path, headers }) => [path.split('/')[2], headers['x-token']]);
    expect(seen).toEqual([
      ['one', 'Bearer token-one'],
      ['two', 'Bearer token-two'],
      ['one', 'Bearer token-one'],
    ]);
  });

  it('that fails reveals neither token nor key, even if the gateway quotes them', async () => {
    gateway.respond((exchange) => exchange.refuse(401, { error: 'canary-token and own-key-1 do not go together' }));
    const failure = failureOf(await callRuntime(runtime, requestOf(wire, { route: routed('canary-token') })));
    expect([failure.code, failure.message]).toEqual(['provider_auth', expect.stringContaining('gateway')]);
    expect(failure.facts.detail).toBe('401');
    expect(JSON.stringify([failure, failure.facts, failure.cause])).not.toMatch(/canary-token|own-key-1/);
  });
});
