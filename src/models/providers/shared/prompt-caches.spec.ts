import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeUpstream } from '../../../../test/support/fake-upstream.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { callRuntime, requestOf } from '../../../../test/support/model-calls.js';
import { anthropicWire, geminiWire, openaiWire, type ProviderWire } from '../../../../test/support/provider-wire.js';
import { sentSystem } from '../../../../test/support/sent-system.js';
import type { ModelRequest } from '../index.js';
import { ModelTransport } from './transport.js';

const CACHED = { type: 'ephemeral' };
const PROMPT = { system: 'Shared.', conversationSystem: 'Own.' };

let upstream: FakeUpstream;
let transport: ModelTransport;
const clock = new ManualClock();

beforeEach(async () => {
  upstream = await FakeUpstream.start();
  transport = new ModelTransport(clock);
});

afterEach(async () => {
  await transport.onModuleDestroy();
  await upstream.close();
});

async function sent(wire: ProviderWire, changes: Partial<ModelRequest>): Promise<Readonly<Record<string, unknown>>> {
  upstream.respond((exchange) => exchange.sendAll(wire.text(['ok'])));
  const access = { managedKey: undefined, baseUrl: wire.baseUrl(upstream.url) };
  const { thrown } = await callRuntime(wire.runtime(access, transport, clock), requestOf(wire, changes));
  expect(thrown).toBeUndefined();
  return upstream.requests.at(-1)?.body ?? {};
}

describe('a request to Anthropic', () => {
  it('asks for its cache, and marks what all conversations of the agent share', async () => {
    expect(await sent(anthropicWire, PROMPT)).toMatchObject({
      cache_control: CACHED,
      system: [
        { type: 'text', text: 'Shared.', cache_control: CACHED },
        { type: 'text', text: 'Own.' },
      ],
    });
  });

  it('without a prompt of the agent marks nothing in the system prompt', async () => {
    const { system } = await sent(anthropicWire, { conversationSystem: 'Own.' });

    expect(system).toEqual([{ type: 'text', text: 'Own.' }]);
  });

  it('that no later one continues is not written to the cache', async () => {
    expect(await sent(anthropicWire, { isSingle: true })).not.toHaveProperty('cache_control');
  });

  it('has the web search before the tools of the agent, so that found tools come last', async () => {
    const tools = [{ name: 'look_up', description: 'Looks up.', inputSchema: { type: 'object' } }];
    const options = { type: 'anthropic', thinking: null, temperature: null, webSearch: true } as const;

    expect(await sent(anthropicWire, { options, tools })).toMatchObject({
      tools: [{ name: 'web_search' }, { name: 'look_up' }],
    });
  });
});

it.each([anthropicWire, openaiWire, geminiWire])(
  'the system prompt for $provider begins with what all conversations share',
  async (wire) => {
    expect(sentSystem(await sent(wire, PROMPT))).toBe('Shared.\n\nOwn.');
  },
);
