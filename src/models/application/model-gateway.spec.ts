import { Global, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { FakeUpstream } from '../../../test/support/fake-upstream.js';
import { failureOf, requestOf, callRuntime, textOf } from '../../../test/support/model-calls.js';
import { CLAUDE_AGENT_WIRES, PROVIDER_WIRES, type ProviderWire } from '../../../test/support/provider-wire.js';
import { Clock, SystemClock } from '../../platform/clock/index.js';
import { readSettings, Settings } from '../../platform/config/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { ChildProcesses } from '../../platform/processes/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { ModelsModule } from '../models.module.js';
import { ModelGateway } from './model-gateway.js';

const KEYS = { ANTHROPIC_API_KEY: 'managed-a', OPENAI_API_KEY: 'managed-o', GEMINI_API_KEY: 'managed-g' };
const MANAGED: Readonly<Record<string, string>> = {
  anthropic: 'managed-a',
  'openai-responses': 'managed-o',
  gemini: 'managed-g',
};

let closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

async function gatewayWith(environment: Readonly<Record<string, string>>, demo = false): Promise<ModelGateway> {
  const settings = readSettings(environment, { role: 'all', demo });

  @Global()
  @Module({
    providers: [
      { provide: Settings, useValue: settings },
      { provide: Clock, useClass: SystemClock },
      { provide: Logger, useValue: {} },
      { provide: ChildProcesses, useValue: {} },
      { provide: Metrics, useValue: new Metrics(new Registry()) },
    ],
    exports: [Settings, Clock, Logger, ChildProcesses, Metrics],
  })
  class PlatformModule {}

  const app = await Test.createTestingModule({ imports: [PlatformModule, ModelsModule] }).compile();
  closing.push(() => app.close());
  return app.get(ModelGateway);
}

describe.each([...PROVIDER_WIRES, ...CLAUDE_AGENT_WIRES])(
  'the gateway to $api, for agents of $provider',
  (wire: ProviderWire) => {
    let upstream: FakeUpstream;
    let bases: Record<string, string>;

    beforeEach(async () => {
      upstream = await FakeUpstream.start((exchange) => exchange.sendAll(wire.text(['ok'])));
      closing.push(() => upstream.close());
      bases = {
        ANTHROPIC_BASE_URL: upstream.url,
        OPENAI_BASE_URL: `${upstream.url}/v1/`,
        GEMINI_BASE_URL: upstream.url,
      };
    });

    it('uses the agent’s own key rather than the managed one', async () => {
      const gateway = await gatewayWith({ ...KEYS, ...bases });
      const own = await callRuntime(gateway, requestOf(wire));
      const managed = await callRuntime(gateway, requestOf(wire, { apiKey: undefined }));
      expect([textOf(own.events), textOf(managed.events)]).toEqual(['ok', 'ok']);
      expect(upstream.requests.map((request) => wire.keyOf(request.headers))).toEqual(['own-key-1', MANAGED[wire.api]]);
    });

    it('repeats a refused call', async () => {
      upstream.respond((exchange) =>
        upstream.requests.length === 1 ? exchange.refuse(503, {}) : exchange.sendAll(wire.text(['ok'])),
      );
      const outcome = await callRuntime(await gatewayWith({ ...KEYS, ...bases }), requestOf(wire));
      expect(textOf(outcome.events)).toBe('ok');
      expect(upstream.requests).toHaveLength(2);
    });

    it('closes the socket and throws the reason when the caller aborts while the provider is silent', async () => {
      const caller = new AbortController();
      const reason = new Error('the user left');
      const disconnected = new Promise<void>((resolve) => {
        upstream.respond(async (exchange) => {
          const [first = ''] = wire.text(['ok']);
          await exchange.send(first);
          caller.abort(reason);
          await exchange.disconnected;
          resolve();
        });
      });
      const outcome = await callRuntime(await gatewayWith({ ...KEYS, ...bases }), requestOf(wire), caller.signal);
      expect(outcome.thrown).toBe(reason);
      await disconnected;
    });

    it('can run with the managed key or an own key, and not without either', async () => {
      const { provider, model } = wire;
      const withKeys = await gatewayWith(KEYS);
      const without = await gatewayWith({});
      expect([
        withKeys.canRun({ provider, model, hasOwnKey: false }),
        without.canRun({ provider, model, hasOwnKey: true }),
        without.canRun({ provider, model, hasOwnKey: false }),
      ]).toEqual([true, true, false]);
      const failure = failureOf(await callRuntime(without, requestOf(wire, { apiKey: undefined })));
      expect({ code: failure.code, ownKey: failure.facts.ownKey }).toEqual({ code: 'provider_auth', ownKey: false });
    });

    it('answers from the sandbox in demo mode, without a key and without a request', async () => {
      const gateway = await gatewayWith({ ...KEYS, ...bases }, true);
      expect(gateway.canRun({ provider: wire.provider, model: wire.model, hasOwnKey: false })).toBe(true);
      const outcome = await callRuntime(gateway, requestOf(wire));
      expect(textOf(outcome.events)).toMatch(/^\[sandbox model\]/);
      expect(upstream.requests).toHaveLength(0);
    });
  },
);
