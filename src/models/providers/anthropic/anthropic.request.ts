import type Anthropic from '@anthropic-ai/sdk';
import type { ModelAttachment, ModelMedia } from '../../domain/model-attachment.js';
import type {
  AssistantMessage,
  ModelMessage,
  RuntimeRequest,
  ToolMessage,
  UserMessage,
} from '../../domain/model-runtime.js';
import { formatInstruction } from '../shared/response-format.js';
import { storedList } from '../shared/tool-calls.js';
import { ANTHROPIC_MODELS } from './anthropic.catalogue.js';
import { nativeSchema } from './anthropic.response-format.js';
import type { AnthropicOptions } from './anthropic.settings.js';

/** The SDK's types lack `temperature`, which the API accepts for the models that the catalogue marks. */
type Body = Omit<Anthropic.MessageCreateParamsStreaming, 'stream'> & { temperature?: number };

/** Most tokens of one response, thinking included; a longer one ends with `max_tokens`. */
export const MAX_OUTPUT_TOKENS = 32_000;
/** Thinking tokens of models with a budget in place of effort levels. Must be less than `MAX_OUTPUT_TOKENS`. */
export const THINKING_BUDGET_TOKENS = 10_000;
const WEB_SEARCH = 'web_search';
const CACHED = { type: 'ephemeral' } as const;

export function anthropicRequest(request: RuntimeRequest<AnthropicOptions>): Body {
  const { options } = request;
  const tools: Anthropic.ToolUnion[] = request.tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    input_schema: { ...tool.inputSchema, type: 'object' },
  }));
  // The API refuses a request in which two tools have the same name. First, since the engine adds tools at the end.
  const searches = options.webSearch && !request.tools.some(({ name }) => name === WEB_SEARCH);
  if (searches) tools.unshift({ type: 'web_search_20250305', name: WEB_SEARCH });
  const { output_config: outputConfig, ...thinking } = thinkingSettings(
    request.model,
    options,
    request.showReasoning === true,
  );
  const schema = request.responseFormat && nativeSchema(request.responseFormat);
  const format = schema && { format: { type: 'json_schema', schema } as const };
  const system = systemBlocks(request);
  if (request.responseFormat && !format) system.push({ type: 'text', text: formatInstruction(request.responseFormat) });
  const forced = tools.length > 0 ? forcedChoice(request) : undefined;
  return {
    model: request.model,
    max_tokens: MAX_OUTPUT_TOKENS,
    // The API writes the whole request to its cache, for the next request of the conversation.
    ...(request.isSingle === true ? {} : { cache_control: CACHED }),
    messages: anthropicMessages(request.messages, request.model),
    ...(system.length === 0 ? {} : { system }),
    ...(tools.length === 0 ? {} : { tools }),
    ...thinking,
    ...forced,
    ...(outputConfig || format ? { output_config: { ...outputConfig, ...format } } : {}),
  };
}

/**
 * The API reads only prefixes that an earlier request has marked, so what all conversations of the agent share has a
 * mark of its own.
 */
function systemBlocks({ system, conversationSystem = '' }: RuntimeRequest): Anthropic.TextBlockParam[] {
  return [
    ...(system === '' ? [] : [{ type: 'text', text: system, cache_control: CACHED } as const]),
    ...(conversationSystem === '' ? [] : [{ type: 'text', text: conversationSystem } as const]),
  ];
}

/** Agents store any combination of settings, so those that the model would refuse are left out. */
function thinkingSettings(id: string, options: AnthropicOptions, show: boolean): Partial<Body> {
  const model = ANTHROPIC_MODELS.find((candidate) => candidate.id === id);
  const isEnabled = options.thinking?.type === 'enabled';
  const display = show ? ({ display: 'summarized' } as const) : {};
  if (model?.thinking === 'adaptive' && (isEnabled || model.alwaysThinks)) {
    const thinking = { type: 'adaptive', ...display } as const;
    return options.thinking?.type === 'enabled'
      ? { thinking, output_config: { effort: options.thinking.effort } }
      : { thinking };
  }
  // The API refuses a temperature together with a thinking budget.
  if (model?.thinking === 'budget' && isEnabled) {
    return { thinking: { type: 'enabled', budget_tokens: THINKING_BUDGET_TOKENS, ...display } };
  }
  const takesTemperature = model === undefined || model.takesTemperature;
  const temperature = options.temperature === null || !takesTemperature ? {} : { temperature: options.temperature };
  // The least thinking of such a model is between tools, so that is also what an absent setting means.
  if (model?.withoutThinking === 'between_tools') return { thinking: { type: 'between_tools' }, ...temperature };
  return options.thinking?.type === 'disabled' ? { thinking: { type: 'disabled' }, ...temperature } : temperature;
}

/**
 * The API refuses to force a call of a model that thinks, so the model does not think in such a response. A model that
 * cannot be stopped from thinking decides for itself.
 */
function forcedChoice({
  model: id,
  options,
  toolChoice,
  oneCallAtATime = false,
}: RuntimeRequest<AnthropicOptions>): Pick<Body, 'tool_choice' | 'thinking'> {
  if (toolChoice === undefined && !oneCallAtATime) return {};
  const parallel = oneCallAtATime ? { disable_parallel_tool_use: true } : {};
  const model = ANTHROPIC_MODELS.find((candidate) => candidate.id === id);
  if (toolChoice === undefined || model?.alwaysThinks === true) return { tool_choice: { type: 'auto', ...parallel } };
  const thinking = options.thinking?.type === 'enabled' ? ({ thinking: { type: 'disabled' } } as const) : {};
  return toolChoice.type === 'tool'
    ? { ...thinking, tool_choice: { type: 'tool', name: toolChoice.name, ...parallel } }
    : { ...thinking, tool_choice: { type: 'any', ...parallel } };
}

function anthropicMessages(messages: readonly ModelMessage[], model: string): Anthropic.MessageParam[] {
  const sent: Anthropic.MessageParam[] = [];
  /** The results of all calls of one response belong in one message. */
  let results: Anthropic.ToolResultBlockParam[] | undefined;
  for (const message of messages) {
    if (message.role === 'tool') {
      if (results === undefined) sent.push({ role: 'user', content: (results = []) });
      results.push({
        type: 'tool_result',
        tool_use_id: message.toolCallId,
        content: resultContent(message),
        ...(message.isError ? { is_error: true } : {}),
      });
      continue;
    }
    results = undefined;
    if (message.role === 'user') sent.push({ role: 'user', content: userContent(message) });
    else {
      const content = storedContent(message, model) ?? plainContent(message);
      // The API refuses an empty message.
      if (content.length > 0) sent.push({ role: 'assistant', content });
    }
  }
  return sent;
}

function userContent({ text, attachments = [] }: UserMessage): Anthropic.MessageParam['content'] {
  if (attachments.length === 0) return text;
  // The API refuses blank text blocks.
  return [...attachments.map(attachedBlock), ...(text.trim() === '' ? [] : [{ type: 'text', text } as const])];
}

type ShownBlock = Anthropic.ImageBlockParam | Anthropic.DocumentBlockParam;

function resultContent({ output, isError, media = [] }: ToolMessage): Anthropic.ToolResultBlockParam['content'] {
  // The API accepts only text in the result of a failed call, and has no block for audio.
  const shown = isError ? [] : media.flatMap((each) => (each.kind === 'audio' ? [] : [shownBlock(each)]));
  if (shown.length === 0) return output;
  return [...(output.trim() === '' ? [] : [{ type: 'text', text: output } as const]), ...shown];
}

function shownBlock(file: Exclude<ModelMedia, { kind: 'audio' }>): ShownBlock {
  switch (file.kind) {
    case 'image':
      return { type: 'image', source: { type: 'base64', media_type: file.mediaType, data: file.data } };
    case 'pdf': {
      const source = { type: 'base64', media_type: file.mediaType, data: file.data } as const;
      return { type: 'document', source, title: file.name };
    }
    default:
      return file satisfies never;
  }
}

function attachedBlock(attachment: ModelAttachment): ShownBlock {
  switch (attachment.kind) {
    case 'image':
    case 'pdf':
      return shownBlock(attachment);
    case 'text': {
      const source = { type: 'text', media_type: 'text/plain', data: attachment.text } as const;
      return { type: 'document', source, title: attachment.name };
    }
    default:
      return attachment satisfies never;
  }
}

function storedContent(message: AssistantMessage, model: string): Anthropic.ContentBlockParam[] | undefined {
  const content = storedList(message, 'anthropic', model, 'content') as Anthropic.ContentBlockParam[] | undefined;
  return content?.filter(isNotBlank);
}

/** The API writes blank text blocks between thinking and calls, and refuses them in later requests. */
export function isNotBlank(block: Anthropic.ContentBlockParam): boolean {
  return block.type !== 'text' || block.text.trim() !== '';
}

function plainContent(message: AssistantMessage): Anthropic.ContentBlockParam[] {
  const content: Anthropic.ContentBlockParam[] = [];
  // The API refuses blank text blocks.
  if (message.text.trim() !== '') content.push({ type: 'text', text: message.text });
  for (const { id, name, input } of message.toolCalls) content.push({ type: 'tool_use', id, name, input });
  return content;
}
