import Anthropic, { APIError } from '@anthropic-ai/sdk';
import type { Clock } from '../../../platform/clock/index.js';
import type { ModelEvent, ModelRuntime, RuntimeRequest, StopReason } from '../../domain/model-runtime.js';
import { addKnownUsage, addUsage, type ModelUsage, UNKNOWN_USAGE } from '../../domain/model-usage.js';
import {
  ClientCache,
  ProviderCall,
  type ProviderAccess,
  type ToolInput,
  toolInputOf,
} from '../shared/provider-call.js';
import type { ModelTransport } from '../shared/transport.js';
import { UniqueIds } from '../shared/unique-ids.js';
import { MAX_CONTINUATIONS } from './anthropic.limits.js';
import { searchResult } from './anthropic.web-search.js';
import { anthropicRequest, saysSomething } from './anthropic.request.js';
import type { AnthropicOptions } from './anthropic.settings.js';

type RawEvent = Anthropic.RawMessageStreamEvent;
type Block = Anthropic.ContentBlock;

/** Anthropic's Messages API. */
export class AnthropicRuntime implements ModelRuntime<AnthropicOptions> {
  private readonly clients: ClientCache<Anthropic>;

  constructor(
    private readonly access: ProviderAccess,
    transport: ModelTransport,
    private readonly clock: Clock,
  ) {
    this.clients = new ClientCache(
      (apiKey, baseURL = 'https://api.anthropic.com') =>
        new Anthropic({
          apiKey,
          // Never left to the SDK, which would read the environment.
          baseURL,
          webhookKey: null,
          fetch: transport.fetch,
          maxRetries: 0,
          // The SDK logs the text of chunks that it cannot parse.
          logLevel: 'off',
          openTelemetry: false,
        }),
    );
  }

  async *stream(request: RuntimeRequest<AnthropicOptions>, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const call = new ProviderCall(request, this.access, signal, this.clock);
    try {
      const messages = this.clients.get(call.key, call.baseUrl).messages;
      const options = { signal: call.signal, headers: call.headers };
      const body = anthropicRequest(request);
      const answer = new Answer(request.model, call);
      for (let round = 0; round <= MAX_CONTINUATIONS; round += 1) {
        const events = await messages.create({ ...body, stream: true }, options);
        for await (const event of events) {
          if (event.type === 'message_start')
            yield { type: 'response', response: { id: event.message.id, model: event.message.model } };
          const told = answer.take(event);
          if (told !== undefined) yield told;
        }
        if (!answer.ended) throw call.endedEarly();
        if (answer.stopReason !== 'pause_turn') return yield* answer.close();
        body.messages = [...body.messages, { role: 'assistant', content: answer.pause().filter(saysSomething) }];
      }
      throw call.broken(`the answer was paused more than ${MAX_CONTINUATIONS} times`);
    } catch (error) {
      const reported = error instanceof APIError && error.cause === undefined && error.error !== undefined;
      throw call.failure(reported ? call.reported(error.message) : error);
    } finally {
      call.close();
    }
  }
}

/** What has arrived of one answer. Its blocks are kept, because signed thinking must go back exactly as it came. */
class Answer {
  private content: Block[] = [];
  private round: (Block | undefined)[] = [];
  private readonly toolInput = new Map<Block, string>();
  private readonly ids = new UniqueIds();
  private usage = UNKNOWN_USAGE;
  /** Of the rounds before a pause; undefined in the first one. */
  private earlierUsage: ModelUsage | undefined;
  private outputAtStart: number | null = null;
  stopReason: Anthropic.StopReason | null = null;
  ended = false;

  constructor(
    private readonly model: string,
    private readonly call: ProviderCall,
  ) {}

  take(event: RawEvent): ModelEvent | undefined {
    switch (event.type) {
      case 'message_start':
        return this.countStart(event.message.usage);
      case 'content_block_start':
        return this.start(event.index, event.content_block);
      case 'content_block_delta':
        return this.extend(event.index, event.delta);
      case 'content_block_stop':
        return this.finish(event.index);
      case 'message_delta':
        this.stopReason = event.delta.stop_reason;
        return this.countTokens(event.usage);
      case 'message_stop':
        this.ended = this.stopReason !== null;
        // After a pause the next request of this call follows, so its signal must live on.
        if (this.stopReason !== 'pause_turn') this.call.drain();
        return undefined;
      default:
        return undefined;
    }
  }

  /** The round ended in a pause; what it holds goes back to the provider, which continues from there. */
  pause(): Anthropic.ContentBlockParam[] {
    this.content = this.blocks();
    this.round = [];
    this.ended = false;
    this.stopReason = null;
    this.earlierUsage = this.totalUsage();
    this.usage = UNKNOWN_USAGE;
    this.outputAtStart = null;
    return this.content;
  }

  *close(): Generator<ModelEvent, void> {
    const content = this.blocks();
    const calls = content.filter((block) => block.type === 'tool_use');
    const reason = stopReasonOf(this.stopReason, calls.length > 0);
    // Cut off by the token limit, the last call's input may be half of what the model meant to write.
    if (reason === 'tool_calls') {
      for (const block of calls)
        yield { type: 'tool_call', call: { id: block.id, name: block.name, ...this.inputOf(block) } };
    }
    const opaque = content.some((block) => block.type !== 'text' && block.type !== 'tool_use');
    const replayable = opaque && (reason === 'tool_calls' || reason === 'end');
    yield {
      type: 'stopped',
      reason,
      usage: this.totalUsage(),
      ...(replayable ? { state: { provider: 'anthropic', data: { model: this.model, content } } } : {}),
    };
  }

  private start(index: number, block: Block): ModelEvent | undefined {
    this.round[index] = block;
    if (block.type === 'tool_use' || block.type === 'server_tool_use') this.toolInput.set(block, '');
    if (block.type === 'tool_use') {
      block.id = this.ids.take(block.id);
      return { type: 'tool_call_started', id: block.id, name: block.name };
    }
    if (block.type === 'web_search_tool_result') {
      return { type: 'provider_tool_result', id: block.tool_use_id, ...searchResult(block.content) };
    }
    if (block.type === 'text' && block.text !== '') return { type: 'text', text: block.text };
    return undefined;
  }

  private extend(index: number, delta: Anthropic.RawContentBlockDelta): ModelEvent | undefined {
    const block = this.round[index];
    switch (delta.type) {
      case 'text_delta':
        if (block?.type === 'text') block.text += delta.text;
        return { type: 'text', text: delta.text };
      case 'thinking_delta':
        if (block?.type === 'thinking') block.thinking += delta.thinking;
        return delta.thinking === '' ? undefined : { type: 'reasoning', text: delta.thinking };
      case 'signature_delta':
        if (block?.type === 'thinking') block.signature = delta.signature;
        return undefined;
      case 'citations_delta':
        if (block?.type === 'text') (block.citations ??= []).push(delta.citation);
        return undefined;
      case 'input_json_delta':
        if (block === undefined) throw this.call.broken('tool input without a tool');
        this.toolInput.set(block, (this.toolInput.get(block) ?? '') + delta.partial_json);
        if (block.type !== 'tool_use' || delta.partial_json === '') return undefined;
        return { type: 'tool_call_arguments', id: block.id, delta: delta.partial_json };
      default:
        return undefined;
    }
  }

  private finish(index: number): ModelEvent | undefined {
    const block = this.round[index];
    if (block?.type !== 'server_tool_use') return undefined;
    const { input, malformedInput } = this.inputOf(block);
    // Cut off, or malformed: the provider runs the tool and refuses the call itself.
    if (malformedInput !== undefined) return undefined;
    return { type: 'provider_tool_call', call: { id: block.id, name: block.name, input } };
  }

  private inputOf(block: Block): ToolInput {
    return toolInputOf(this.toolInput.get(block) ?? '');
  }

  /** Every block so far with parsed tool input, since the API accepts only an object in later requests. */
  private blocks(): Block[] {
    const round = this.round.filter((block) => block !== undefined);
    const cutOff = ['max_tokens', 'refusal'].includes(stopReasonOf(this.stopReason, false));
    for (const block of cutOff ? [] : round) {
      if (block.type !== 'tool_use' && block.type !== 'server_tool_use') continue;
      block.input = this.inputOf(block).input;
    }
    return [...this.content, ...round];
  }

  private countStart(usage: Anthropic.Usage | undefined): ModelEvent | undefined {
    this.outputAtStart = usage?.output_tokens ?? null;
    return this.countInput(usage);
  }

  private countTokens(usage: Anthropic.MessageDeltaUsage | undefined): ModelEvent | undefined {
    if (usage === undefined) return undefined;
    const { output_tokens: output, output_tokens_details: details } = usage;
    if (typeof output === 'number') {
      this.usage = { ...this.usage, outputTokens: output, thinkingTokens: details?.thinking_tokens ?? null };
    }
    return this.countInput(usage);
  }

  private countInput(usage: Anthropic.Usage | Anthropic.MessageDeltaUsage | undefined): ModelEvent | undefined {
    if (usage === undefined) return undefined;
    const {
      input_tokens: input,
      cache_read_input_tokens: cachedInputTokens,
      cache_creation_input_tokens: written,
    } = usage;
    if (typeof input === 'number') {
      const inputTokens = input + (cachedInputTokens ?? 0) + (written ?? 0);
      this.usage = { ...this.usage, inputTokens, cachedInputTokens: cachedInputTokens ?? null };
    }
    return { type: 'usage', usage: this.usageSoFar() };
  }

  /**
   * What a call that breaks off now is known to have used. The output tokens of `message_start` are those of the first
   * few tokens, not of what was written after: they would pass for a total, so output is unknown until a
   * `message_delta` tells it.
   */
  private usageSoFar(): ModelUsage {
    return this.earlierUsage === undefined ? this.usage : addKnownUsage(this.earlierUsage, this.usage);
  }

  /** Of a round that has ended; servers that speak this API for other models may tell output at the start alone. */
  private totalUsage(): ModelUsage {
    const usage = { ...this.usage, outputTokens: this.usage.outputTokens ?? this.outputAtStart };
    return this.earlierUsage === undefined ? usage : addUsage(this.earlierUsage, usage);
  }
}

function stopReasonOf(reason: Anthropic.StopReason | null, hasCalls: boolean): StopReason {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'max_tokens';
    case 'refusal':
      return 'refusal';
    default:
      return hasCalls ? 'tool_calls' : 'end';
  }
}
