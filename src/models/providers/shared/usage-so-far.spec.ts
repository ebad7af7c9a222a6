import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeUpstream } from '../../../../test/support/fake-upstream.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { failureOf, requestOf, callRuntime } from '../../../../test/support/model-calls.js';
import { anthropicWire, geminiWire, openaiWire, type ProviderWire } from '../../../../test/support/provider-wire.js';
import { ModelTransport } from './transport.js';

const USAGE = { input: 12, output: 3, cached: 10 };

function frame(data: { readonly type?: string } & Record<string, unknown>): string {
  return `${data.type === undefined ? '' : `event: ${data.type}\n`}data: ${JSON.stringify(data)}\n\n`;
}

function geminiChunk(text: string, usageMetadata?: object): string {
  return frame({ candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }], usageMetadata });
}

function counts(inputTokens: number, outputTokens: number | null, cachedInputTokens: number | null = null): object {
  return { type: 'usage', usage: { inputTokens, outputTokens, cachedInputTokens, thinkingTokens: null } };
}

describe('the usage so far of a call that breaks off', () => {
  let upstream: FakeUpstream;
  let transport: ModelTransport;
  let clock: ManualClock;

  beforeEach(async () => {
    upstream = await FakeUpstream.start();
    clock = new ManualClock();
    transport = new ModelTransport(clock);
  });

  afterEach(async () => {
    await transport.onModuleDestroy();
    await upstream.close();
  });

  /** The last usage of a call whose responses are these frames, the last response cut off. */
  async function brokenOff(wire: ProviderWire, ...responses: string[][]): Promise<unknown[]> {
    upstream.respond((exchange) => exchange.sendAll(responses.shift() ?? []));
    const runtime = wire.runtime({ managedKey: 'key', baseUrl: wire.baseUrl(upstream.url) }, transport, clock);
    const outcome = await callRuntime(runtime, requestOf(wire));
    failureOf(outcome);
    return outcome.events.filter(({ type }) => type !== 'response');
  }

  it('has the input before the text on Anthropic, and no output before a message_delta', async () => {
    expect(await brokenOff(anthropicWire, anthropicWire.text(['so far'], USAGE).slice(0, -2))).toEqual([
      counts(12, null, 10),
      { type: 'text', text: 'so far' },
    ]);
  });

  it('has the output on Anthropic after a message_delta', async () => {
    const events = await brokenOff(anthropicWire, anthropicWire.text(['so far'], USAGE).slice(0, -1));
    expect(events.at(-1)).toEqual(counts(12, 3, 10));
  });

  it('includes the usage before a pause on Anthropic', async () => {
    const text = anthropicWire.text(['so far'], USAGE);
    const paused = text.map((each) => each.replace('end_turn', 'pause_turn'));
    expect((await brokenOff(anthropicWire, paused, text.slice(0, 2))).at(-1)).toEqual(counts(24, 3, 20));
  });

  it('has the counts of each chunk on Gemini, before the text of the chunk', async () => {
    const chunks = [
      geminiChunk('so', { promptTokenCount: 12, cachedContentTokenCount: 10 }),
      geminiChunk(' far', { promptTokenCount: 12, cachedContentTokenCount: 10, candidatesTokenCount: 2 }),
      geminiChunk('.'),
    ];
    expect(await brokenOff(geminiWire, chunks)).toEqual([
      counts(12, null, 10),
      { type: 'text', text: 'so' },
      counts(12, 2, 10),
      { type: 'text', text: ' far' },
      { type: 'text', text: '.' },
    ]);
  });

  it('is unknown on OpenAI, which reports it at the end', async () => {
    expect(await brokenOff(openaiWire, openaiWire.text(['so far'], USAGE).slice(0, -1))).toEqual([
      { type: 'text', text: 'so far' },
    ]);
  });
});
