import { existsSync } from 'node:fs';
import { AnthropicRuntime } from '../../src/models/providers/anthropic/anthropic.runtime.js';
import { GeminiRuntime } from '../../src/models/providers/gemini/gemini.runtime.js';
import { OpenAiResponsesRuntime } from '../../src/models/providers/openai-responses/openai-responses.runtime.js';
import { anthropicParts, geminiParts, openaiParts } from './sent-parts.js';
import type { ProviderWire, WireAnswer, WireUsage } from './wire.js';

export type * from './wire.js';

function sse(data: object, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

function anthropicFrame(data: { type: string } & Record<string, unknown>): string {
  return sse(data, data.type);
}

function anthropicStart({ input, cached }: Omit<WireUsage, 'output'> = { input: 1 }): string {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], model: 'm', stop_reason: null };
  return anthropicFrame({
    type: 'message_start',
    message: {
      ...message,
      // Apart from each other here.
      usage: { input_tokens: input - (cached ?? 0), cache_read_input_tokens: cached, output_tokens: 1 },
    },
  });
}

function anthropicEnd(stopReason: string, { output, thinking }: Omit<WireUsage, 'input'> = { output: 1 }): string[] {
  const output_tokens_details = thinking === undefined ? undefined : { thinking_tokens: thinking };
  const usage = { output_tokens: output, output_tokens_details };
  return [
    anthropicFrame({ type: 'message_delta', delta: { stop_reason: stopReason }, usage }),
    anthropicFrame({ type: 'message_stop' }),
  ];
}

function anthropicTool(id: string, name: string, inputParts: readonly string[]): string[] {
  const block = { type: 'tool_use', id, name, input: {} };
  return [
    anthropicFrame({ type: 'content_block_start', index: 0, content_block: block }),
    ...inputParts.map((partial_json) =>
      anthropicFrame({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } }),
    ),
  ];
}

const anthropicStop = anthropicFrame({ type: 'content_block_stop', index: 0 });

/** One content block with its index: begun, filled, ended. */
function anthropicBlock(index: number, content_block: object, deltas: readonly object[]): string[] {
  return [
    anthropicFrame({ type: 'content_block_start', index, content_block }),
    ...deltas.map((delta) => anthropicFrame({ type: 'content_block_delta', index, delta })),
    anthropicFrame({ type: 'content_block_stop', index }),
  ];
}

function anthropicAnswer({ thinking, opaque, text, calls = [] }: WireAnswer): string[] {
  const blocks: [object, object[]][] = [];
  if (thinking !== undefined || opaque !== undefined) {
    blocks.push([
      { type: 'thinking', thinking: '', signature: '' },
      [
        { type: 'thinking_delta', thinking: thinking ?? '' },
        { type: 'signature_delta', signature: opaque ?? '' },
      ],
    ]);
  }
  if (text !== undefined) blocks.push([{ type: 'text', text: '' }, [{ type: 'text_delta', text }]]);
  for (const { id, name, input = {} } of calls) {
    const partial_json = JSON.stringify(input);
    blocks.push([{ type: 'tool_use', id, name, input: {} }, [{ type: 'input_json_delta', partial_json }]]);
  }
  return [
    anthropicStart(),
    ...blocks.flatMap(([block, deltas], index) => anthropicBlock(index, block, deltas)),
    ...anthropicEnd(calls.length > 0 ? 'tool_use' : 'end_turn'),
  ];
}

interface AnthropicContent {
  readonly type: string;
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error?: boolean;
}

export const anthropicWire: ProviderWire = {
  provider: 'anthropic',
  api: 'anthropic',
  model: 'claude-sonnet-5-5',
  options: { type: 'anthropic', thinking: null, temperature: null, webSearch: false },
  runtime: (access, transport, clock) => new AnthropicRuntime(access, transport, clock),
  baseUrl: (server) => server,
  keyOf: (headers) => String(headers['authorization']).replace('Bearer ', ''),
  text: (parts, usage = { input: 1, output: 1 }) => [
    anthropicStart(usage),
    anthropicFrame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...parts.map((text) =>
      anthropicFrame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ),
    anthropicStop,
    ...anthropicEnd('end_turn', usage),
  ],
  toolCall: ({ id, name, inputParts }) => [
    anthropicStart(),
    ...anthropicTool(id, name, inputParts),
    anthropicStop,
    ...anthropicEnd('tool_use'),
  ],
  answer: anthropicAnswer,
  toolResults: ({ messages }) =>
    (messages as { content: string | AnthropicContent[] }[])
      .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
      .filter(({ type }) => type === 'tool_result')
      .map((result) => ({ id: result.tool_use_id, output: result.content, isError: result.is_error === true })),
  userParts: anthropicParts,
  halfToolCall: [anthropicStart(), ...anthropicTool('t1', 'look_up', ['{"city":"Par'])],
  cutOffToolCall: [
    anthropicStart(),
    ...anthropicTool('t1', 'look_up', ['{"city":"Par']),
    anthropicStop,
    ...anthropicEnd('max_tokens'),
  ],
  unreadableToolCall: [
    anthropicStart(),
    ...anthropicTool('t1', 'look_up', ['{"city":']),
    anthropicStop,
    ...anthropicEnd('tool_use'),
  ],
  malformed: 'event: content_block_delta\ndata: {"type":"content_blo\n\n',
  reportedError: sse({ type: 'error', error: { type: 'api_error', message: 'Internal server error' } }, 'error'),
  contextTooLong: {
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    },
  },
};

function openaiFrame(data: { type: string } & Record<string, unknown>): string {
  return sse({ sequence_number: 0, ...data }, data.type);
}

function openaiEnd(
  status: 'completed' | 'incomplete',
  output: unknown[],
  { input, cached, thinking, ...usage }: WireUsage = { input: 1, output: 1 },
): string {
  const response = {
    id: 'resp_1',
    status,
    output,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    usage: {
      ...{ input_tokens: input, output_tokens: usage.output, total_tokens: input + usage.output },
      input_tokens_details: cached === undefined ? undefined : { cached_tokens: cached },
      output_tokens_details: thinking === undefined ? undefined : { reasoning_tokens: thinking },
    },
  };
  return openaiFrame({ type: `response.${status}`, response });
}

const openaiStart = openaiFrame({ type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } });

function openaiTool(id: string, name: string, inputParts: readonly string[]): string[] {
  const item = { type: 'function_call', id: 'fc_1', call_id: id, name, arguments: '', status: 'in_progress' };
  return [
    openaiFrame({ type: 'response.output_item.added', output_index: 0, item }),
    ...inputParts.map((delta) =>
      openaiFrame({ type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0, delta }),
    ),
  ];
}

function openaiToolDone(id: string, name: string, input: string, status = 'completed'): string {
  const item = { type: 'function_call', id: 'fc_1', call_id: id, name, arguments: input, status };
  return openaiFrame({ type: 'response.output_item.done', output_index: 0, item });
}

function openaiDone(output_index: number, item: object): string {
  return openaiFrame({ type: 'response.output_item.done', output_index, item });
}

function openaiCall(
  output_index: number,
  { id, name, input = {} }: { id: string; name: string; input?: object },
): string[] {
  const itemId = `fc_${id}`;
  const text = JSON.stringify(input);
  const item = { type: 'function_call', id: itemId, call_id: id, name };
  return [
    openaiFrame({
      type: 'response.output_item.added',
      output_index,
      item: { ...item, arguments: '', status: 'in_progress' },
    }),
    openaiFrame({ type: 'response.function_call_arguments.delta', item_id: itemId, output_index, delta: text }),
    openaiDone(output_index, { ...item, arguments: text, status: 'completed' }),
  ];
}

function openaiAnswer({ thinking, opaque, text, calls = [] }: WireAnswer): string[] {
  const frames = [openaiStart];
  if (thinking !== undefined || opaque !== undefined) {
    const at = { item_id: 'rs_1', output_index: 0, summary_index: 0 };
    const summary = thinking === undefined ? [] : [{ type: 'summary_text', text: thinking }];
    if (thinking !== undefined)
      frames.push(openaiFrame({ type: 'response.reasoning_summary_text.delta', ...at, delta: thinking }));
    frames.push(openaiDone(0, { type: 'reasoning', id: 'rs_1', summary, encrypted_content: opaque }));
  }
  if (text !== undefined) {
    const at = { item_id: 'msg_1', output_index: 1, content_index: 0 };
    const content = [{ type: 'output_text', text, annotations: [] }];
    frames.push(openaiFrame({ type: 'response.output_text.delta', ...at, delta: text }));
    frames.push(openaiDone(1, { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }));
  }
  calls.forEach((call, index) => frames.push(...openaiCall(2 + index, call)));
  return [...frames, openaiEnd('completed', [])];
}

interface OpenaiItem {
  readonly type?: string;
  readonly call_id: string;
  readonly output: string;
}

export const openaiWire: ProviderWire = {
  provider: 'openai-responses',
  api: 'openai-responses',
  model: 'gpt-6.1-sol',
  options: { type: 'openai-responses', reasoningEffort: null, verbosity: null },
  runtime: (access, transport, clock) => new OpenAiResponsesRuntime(access, transport, clock),
  baseUrl: (server) => `${server}/v1`,
  keyOf: (headers) => String(headers['authorization']).replace('Bearer ', ''),
  text: (parts, usage) => [
    openaiStart,
    ...parts.map((delta) =>
      openaiFrame({ type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta }),
    ),
    openaiEnd('completed', [], usage),
  ],
  toolCall: ({ id, name, inputParts }) => [
    openaiStart,
    ...openaiTool(id, name, inputParts),
    openaiToolDone(id, name, inputParts.join('')),
    openaiEnd('completed', []),
  ],
  answer: openaiAnswer,
  toolResults: ({ input }) =>
    (input as OpenaiItem[])
      .filter(({ type }) => type === 'function_call_output')
      .map(({ call_id: id, output }) => ({
        id,
        output: output.replace(/^Error: /, ''),
        isError: output.startsWith('Error: '),
      })),
  userParts: openaiParts,
  halfToolCall: [openaiStart, ...openaiTool('t1', 'look_up', ['{"city":"Par'])],
  cutOffToolCall: [
    openaiStart,
    ...openaiTool('t1', 'look_up', ['{"city":"Par']),
    openaiToolDone('t1', 'look_up', '{"city":"Par', 'incomplete'),
    openaiEnd('incomplete', []),
  ],
  unreadableToolCall: [
    openaiStart,
    ...openaiTool('t1', 'look_up', ['{"city":']),
    openaiToolDone('t1', 'look_up', '{"city":'),
    openaiEnd('completed', []),
  ],
  malformed: 'event: response.output_text.delta\ndata: {"type":"respo\n\n',
  reportedError: openaiFrame({
    type: 'response.failed',
    response: { id: 'resp_1', status: 'failed', error: { code: 'server_error', message: 'An error occurred' } },
  }),
  contextTooLong: {
    status: 400,
    body: {
      error: {
        message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
    },
  },
};

function geminiFrame(parts: readonly unknown[], finishReason?: string, usage?: WireUsage): string {
  return sse({
    // What is undefined stays off the wire.
    candidates: [{ content: { role: 'model', parts }, index: 0, finishReason }],
    usageMetadata: usage && {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cached,
      // Apart from each other here.
      candidatesTokenCount: usage.output - (usage.thinking ?? 0),
      thoughtsTokenCount: usage.thinking,
    },
  });
}

function geminiAnswer({ thinking, opaque, text, calls = [] }: WireAnswer): string[] {
  const signed = opaque === undefined ? {} : { thoughtSignature: opaque };
  return [
    ...(thinking === undefined ? [] : [geminiFrame([{ text: thinking, thought: true }])]),
    ...(text === undefined ? [] : [geminiFrame([calls.length > 0 ? { text } : { text, ...signed }])]),
    ...calls.map(({ id, name, input = {} }, index) =>
      geminiFrame([{ functionCall: { id, name, args: input }, ...(index === 0 ? signed : {}) }]),
    ),
    geminiFrame([], 'STOP', { input: 1, output: 1 }),
  ];
}

interface GeminiPart {
  readonly functionResponse?: {
    readonly id: string;
    readonly response: { readonly output?: string; readonly error?: string };
  };
}

export const geminiWire: ProviderWire = {
  provider: 'gemini',
  api: 'gemini',
  model: 'gemini-3.8-flash',
  options: { type: 'gemini' },
  runtime: (access, transport, clock) => new GeminiRuntime(access, transport, clock),
  baseUrl: (server) => server,
  keyOf: (headers) => headers['x-goog-api-key'],
  text: (parts, usage = { input: 1, output: 1 }) => [
    ...parts.map((text) => geminiFrame([{ text }])),
    geminiFrame([], 'STOP', usage),
  ],
  toolCall: ({ id, name, inputParts }) => [
    geminiFrame([{ functionCall: { id, name, args: JSON.parse(inputParts.join('')) as unknown } }]),
    geminiFrame([], 'STOP', { input: 1, output: 1 }),
  ],
  answer: geminiAnswer,
  toolResults: ({ contents }) =>
    (contents as { parts: GeminiPart[] }[])
      .flatMap(({ parts }) => parts)
      .flatMap(({ functionResponse: result }) =>
        result === undefined
          ? []
          : [
              {
                id: result.id,
                output: result.response.output ?? result.response.error ?? '',
                isError: result.response.error !== undefined,
              },
            ],
      ),
  userParts: geminiParts,
  // This provider sends a call's input whole; what can be cut off is the frame.
  halfToolCall: ['data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"look_up","args":{"ci'],
  cutOffToolCall: [geminiFrame([{ functionCall: { id: 't1', name: 'look_up', args: { city: 'Par' } } }], 'MAX_TOKENS')],
  unreadableToolCall: [geminiFrame([], 'MALFORMED_FUNCTION_CALL')],
  malformed: 'data: {"candidates":[{"cont\n\n',
  reportedError: sse({ error: { code: 500, message: 'An internal error has occurred.', status: 'INTERNAL' } }),
  contextTooLong: {
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
        status: 'INVALID_ARGUMENT',
      },
    },
  },
};

export const PROVIDER_WIRES: readonly ProviderWire[] = [anthropicWire, openaiWire, geminiWire];

/** Of agents on the Claude Agent SDK, by the family of their model. */
export const CLAUDE_AGENT_WIRES: readonly ProviderWire[] = PROVIDER_WIRES.map((wire) => ({
  ...wire,
  provider: 'claude-agent-sdk',
  options: { type: 'claude-agent-sdk' },
}));

/** Whether agents on the Claude Agent SDK can run here: it is an optional package. */
export const HAS_CLAUDE_AGENT_SDK = existsSync('claude-agent/node_modules/@anthropic-ai/claude-agent-sdk');

/** What the loop of an agent does is the same in both modes; what is its own has tests of its own. */
const PLAYS_CLAUDE_AGENT = HAS_CLAUDE_AGENT_SDK && process.env['TEST_MODE'] !== 'cluster';

/** How runs of every type of agent are played that can run here. */
export const AGENT_WIRES: readonly ProviderWire[] = [
  ...PROVIDER_WIRES,
  ...(PLAYS_CLAUDE_AGENT ? CLAUDE_AGENT_WIRES.slice(0, 1) : []),
];
