import Anthropic from '@anthropic-ai/sdk';
import type { Clock } from '../../../platform/clock/index.js';
import type { ModelEvent, ModelRuntime, RuntimeRequest, StopReason } from '../../domain/model-runtime.js';
import { addKnownUsage, addUsage, type ModelUsage, UNKNOWN_USAGE } from '../../domain/model-usage.js';
import { ClientCache, type ProviderAccess, ProviderCall } from '../shared/provider-call.js';
import { type ToolInput, toolInputOf, UniqueIds } from '../shared/tool-calls.js';
import { serverSentEvents } from '../shared/server-sent-events.js';
import { abortedBy, type ModelTransport } from '../shared/transport.js';
import { searchResult } from './anthropic.web-search.js';
import { anthropicRequest, isNotBlank } from './anthropic.request.js';
import type { AnthropicOptions } from './anthropic.settings.js';

/** How often a call continues a response that the provider pauses during its web searches, before the call fails. */
const MAX_CONTINUATIONS = 8;

type RawEvent = Anthropic.RawMessageStreamEvent;
type Block = Anthropic.ContentBlock;

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
          // The SDK would read an absent value from the environment.
          baseURL,
          webhookKey: null,
          fetch: transport.fetchIterable,
          maxRetries: 0,
          // The SDK would log the text of chunks that it cannot parse.
          logLevel: 'off',
          openTelemetry: false,
        }),
    );
  }

  async *stream(request: RuntimeRequest<AnthropicOptions>, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const call = new ProviderCall(request, this.access, signal, this.clock);
    try {
      const messages = this.clients.get(call.key, call.baseUrl).messages;
      const options = { ...abortedBy(call.signal), headers: call.headers };
      const body = anthropicRequest(request);
      const answer = new Answer(request.model, call);
      for (let requests = 0; requests <= MAX_CONTINUATIONS; requests += 1) {
        const response = await messages.create({ ...body, stream: true }, options).asResponse();
        for await (const events of serverSentEvents(response, call)) {
          for (const { event, data } of events) {
            if (event === undefined) continue;
            if (event === 'error') throw call.reported(data);
            const rawEvent = JSON.parse(data) as RawEvent;
            if (rawEvent.type === 'message_start') yield identified(rawEvent);
            const modelEvent = answer.take(rawEvent);
            if (modelEvent !== undefined) yield modelEvent;
          }
        }
        if (!answer.ended) throw call.endedEarly();
        if (answer.stopReason !== 'pause_turn') return yield* answer.close();
        body.messages = [...body.messages, { role: 'assistant', content: answer.pause().filter(isNotBlank) }];
      }
      throw call.broken(`the provider paused the response more than ${MAX_CONTINUATIONS} times`);
    } catch (error) {
      throw call.failure(error);
    } finally {
      call.close();
    }
  }
}

/** The received part of one response. It keeps the blocks, because later requests must return signed thinking unchanged. */
class Answer {
  private content: Block[] = [];
  private blocksOfRequest: (Block | undefined)[] = [];
  private readonly toolInput = new Map<Block, string>();
  private readonly ids = new UniqueIds();
  private usage = UNKNOWN_USAGE;
  /** Usage of the requests before a pause; undefined in the first request. */
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
        return this.count(event.message.usage, false);
      case 'content_block_start':
        return this.start(event.index, event.content_block);
      case 'content_block_delta':
        return this.extend(event.index, event.delta);
      case 'content_block_stop':
        return this.finish(event.index);
      case 'message_delta':
        this.stopReason = event.delta.stop_reason;
        return this.count(event.usage, true);
      case 'message_stop':
        this.ended = this.stopReason !== null;
        // After a pause this call makes another request, so its signal must not be aborted.
        if (this.stopReason !== 'pause_turn') this.call.drain();
        return undefined;
      default:
        return undefined;
    }
  }

  /** Ends the request that the provider paused. The next one returns the blocks, and the provider continues from there. */
  pause(): Anthropic.ContentBlockParam[] {
    this.content = this.blocks();
    this.blocksOfRequest = [];
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
    // If the token limit cut the response off, the input of the last call may be incomplete.
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
    this.blocksOfRequest[index] = block;
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
    const block = this.blocksOfRequest[index];
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
    const block = this.blocksOfRequest[index];
    if (block?.type !== 'server_tool_use') return undefined;
    const { input, malformedInput } = this.inputOf(block);
    // The provider executes the tool, so it handles an incomplete or malformed input itself.
    if (malformedInput !== undefined) return undefined;
    return { type: 'provider_tool_call', call: { id: block.id, name: block.name, input } };
  }

  private inputOf(block: Block): ToolInput {
    return toolInputOf(this.toolInput.get(block) ?? '');
  }

  /** All blocks, with parsed tool input: the API accepts only an object in later requests. */
  private blocks(): Block[] {
    const current = this.blocksOfRequest.filter((block) => block !== undefined);
    const isCutOff = ['max_tokens', 'refusal'].includes(stopReasonOf(this.stopReason, false));
    for (const block of isCutOff ? [] : current) {
      if (block.type !== 'tool_use' && block.type !== 'server_tool_use') continue;
      block.input = this.inputOf(block).input;
    }
    return [...this.content, ...current];
  }

  /** @param isFinal false for `message_start`, which has only the first output tokens */
  private count(
    usage: Anthropic.Usage | Anthropic.MessageDeltaUsage | undefined,
    isFinal: boolean,
  ): ModelEvent | undefined {
    if (usage === undefined) return undefined;
    const { input_tokens: input, output_tokens: output, output_tokens_details: details } = usage;
    if (typeof output === 'number') {
      const thinkingTokens = details?.thinking_tokens ?? null;
      if (isFinal) this.usage = { ...this.usage, outputTokens: output, thinkingTokens };
      else this.outputAtStart = output;
    }
    if (typeof input === 'number') {
      const cachedInputTokens = usage.cache_read_input_tokens ?? null;
      const inputTokens = input + (cachedInputTokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
      this.usage = { ...this.usage, inputTokens, cachedInputTokens };
    }
    return { type: 'usage', usage: this.usageSoFar() };
  }

  /** The usage if the call breaks off now. The output is unknown until `message_delta`. */
  private usageSoFar(): ModelUsage {
    return this.earlierUsage === undefined ? this.usage : addKnownUsage(this.earlierUsage, this.usage);
  }

  /** The usage of all requests. Other servers with this API may report output tokens only in `message_start`. */
  private totalUsage(): ModelUsage {
    const usage = { ...this.usage, outputTokens: this.usage.outputTokens ?? this.outputAtStart };
    return this.earlierUsage === undefined ? usage : addUsage(this.earlierUsage, usage);
  }
}

function identified({ message: { id, model } }: Anthropic.RawMessageStartEvent): ModelEvent {
  return { type: 'response', response: { id, model } };
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
