import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeUpstream } from '../../../../test/support/fake-upstream.js';
import { ManualClock } from '../../../../test/support/manual-clock.js';
import { requestOf, callRuntime } from '../../../../test/support/model-calls.js';
import { anthropicWire, geminiWire, openaiWire, type ProviderWire } from '../../../../test/support/provider-wire.js';
import type { ModelMedia } from '../../domain/model-attachment.js';
import type { ModelMessage } from '../../domain/model-runtime.js';
import { ModelTransport } from './transport.js';

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

const png: ModelMedia = { kind: 'image', name: 'a.png', mediaType: 'image/png', data: 'cG5n' };
const gif: ModelMedia = { kind: 'image', name: 'a.gif', mediaType: 'image/gif', data: 'Z2lm' };
const pdf: ModelMedia = { kind: 'pdf', name: 'report', mediaType: 'application/pdf', data: 'cGRm' };
const wav: ModelMedia = { kind: 'audio', name: 'a.wav', mediaType: 'audio/wav', data: 'd2F2' };

function result(
  toolCallId: string,
  media: readonly ModelMedia[],
  changes: { output?: string; isError?: boolean } = {},
): ModelMessage {
  return { role: 'tool', toolCallId, toolName: 'show', output: 'see', isError: false, media, ...changes };
}

/** The body of a request with these results of the calls of one response. */
async function sent(wire: ProviderWire, ...results: ModelMessage[]): Promise<Readonly<Record<string, unknown>>> {
  const toolCalls = results.flatMap((each) =>
    each.role === 'tool' ? [{ id: each.toolCallId, name: 'show', input: {} }] : [],
  );
  upstream.respond((exchange) => exchange.sendAll(wire.text(['ok'])));
  const access = { managedKey: undefined, baseUrl: wire.baseUrl(upstream.url) };
  const messages: ModelMessage[] = [
    { role: 'user', text: 'show me' },
    { role: 'assistant', text: '', toolCalls },
    ...results,
  ];
  const outcome = await callRuntime(wire.runtime(access, transport, clock), requestOf(wire, { messages }));
  expect(outcome.thrown).toBeUndefined();
  return upstream.requests.at(-1)?.body ?? {};
}

describe('media in tool results for anthropic', () => {
  const blocks = async (...results: ModelMessage[]): Promise<unknown> =>
    ((await sent(anthropicWire, ...results))['messages'] as { content: unknown }[]).at(-1)?.content;

  it('are blocks after the text of the result; audio is left out', async () => {
    expect(await blocks(result('c1', [png, wav, pdf]), result('c2', [wav]))).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'c1',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'cG5n' } },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'cGRm' },
            title: 'report',
          },
        ],
      },
      { type: 'tool_result', tool_use_id: 'c2', content: 'see' },
    ]);
  });

  it('are left out of the result of a failed call, and a blank text is left out of the result', async () => {
    expect(await blocks(result('c1', [png], { isError: true }), result('c2', [gif], { output: ' ' }))).toEqual([
      { type: 'tool_result', tool_use_id: 'c1', content: 'see', is_error: true },
      {
        type: 'tool_result',
        tool_use_id: 'c2',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/gif', data: 'Z2lm' } }],
      },
    ]);
  });
});

describe('media in tool results for openai-responses', () => {
  it('are parts after the text of the output; audio is left out', async () => {
    const body = await sent(openaiWire, result('c1', [png, wav, pdf], { isError: true }), result('c2', [wav]));
    expect((body['input'] as unknown[]).slice(-2)).toEqual([
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [
          { type: 'input_text', text: 'Error: see' },
          { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,cG5n' },
          { type: 'input_file', filename: 'report.pdf', file_data: 'data:application/pdf;base64,cGRm' },
        ],
      },
      { type: 'function_call_output', call_id: 'c2', output: 'see' },
    ]);
  });
});

describe('media in tool results for gemini', () => {
  it('are parts of the response; audio follows all responses, and unsupported media are left out', async () => {
    const body = await sent(
      geminiWire,
      result('c1', [png, wav, gif]),
      result('c2', [pdf], { isError: true }),
      result('c3', []),
    );
    expect((body['contents'] as { parts: unknown }[]).at(-1)?.parts).toEqual([
      {
        functionResponse: {
          id: 'c1',
          name: 'show',
          response: { output: 'see' },
          parts: [{ inlineData: { mimeType: 'image/png', data: 'cG5n' } }],
        },
      },
      {
        functionResponse: {
          id: 'c2',
          name: 'show',
          response: { error: 'see' },
          parts: [{ inlineData: { mimeType: 'application/pdf', data: 'cGRm' } }],
        },
      },
      { functionResponse: { id: 'c3', name: 'show', response: { output: 'see' } } },
      { inlineData: { mimeType: 'audio/wav', data: 'd2F2' } },
    ]);
  });
});
