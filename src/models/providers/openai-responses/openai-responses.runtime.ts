import OpenAI, { APIError } from 'openai';
import type { Clock } from '../../../platform/clock/index.js';
import type { ModelEvent, ModelRuntime, RuntimeRequest, StopReason } from '../../domain/model-runtime.js';
import type { ModelUsage } from '../../domain/model-usage.js';
import { ClientCache, type ProviderAccess, ProviderCall } from '../shared/provider-call.js';
import { toolInputOf, UniqueIds } from '../shared/tool-calls.js';
import type { ModelTransport } from '../shared/transport.js';
import { openaiRequest } from './openai-responses.request.js';
import type { OpenAiOptions } from './openai-responses.settings.js';

type RawEvent = OpenAI.Responses.ResponseStreamEvent;
type OutputItem = OpenAI.Responses.ResponseOutputItem;

export class OpenAiResponsesRuntime implements ModelRuntime<OpenAiOptions> {
  private readonly clients: ClientCache<OpenAI>;

  constructor(
    private readonly access: ProviderAccess,
    transport: ModelTransport,
    private readonly clock: Clock,
  ) {
    this.clients = new ClientCache(
      (apiKey, baseURL = 'https://api.openai.com/v1') =>
        new OpenAI({
          apiKey,
          // The SDK would read absent values from the environment.
          baseURL,
          adminAPIKey: null,
          organization: null,
          project: null,
          webhookSecret: null,
          fetch: transport.fetchIterable,
          maxRetries: 0,
          logLevel: 'off',
        }),
    );
  }

  async *stream(request: RuntimeRequest<OpenAiOptions>, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const call = new ProviderCall(request, this.access, signal, this.clock);
    try {
      const { responses } = this.clients.get(call.key, call.baseUrl);
      const options = { signal: call.signal, headers: call.headers };
      const events = await responses.create({ ...openaiRequest(request), stream: true }, options);
      const answer = new Answer(request.model, call);
      for await (const event of events) {
        const modelEvent = answer.take(event);
        if (modelEvent !== undefined) yield modelEvent;
      }
      yield* answer.close();
    } catch (error) {
      const reported = error instanceof APIError && error.cause === undefined && error.error !== undefined;
      throw call.failure(reported ? call.reported(error.message, error.code) : error);
    } finally {
      call.close();
    }
  }
}

class Answer {
  private readonly items: OutputItem[] = [];
  private readonly callIds = new Map<string, string>();
  private readonly ids = new UniqueIds();
  /** By index and call id of the item: the API reports an item at its start and at its end, and both events need the same id. */
  private readonly uniqueIds = new Map<string, string>();
  private response: OpenAI.Responses.Response | undefined;
  private refused = false;

  constructor(
    private readonly model: string,
    private readonly call: ProviderCall,
  ) {}

  take(event: RawEvent): ModelEvent | undefined {
    switch (event.type) {
      case 'response.created':
        return { type: 'response', response: { id: event.response.id, model: event.response.model } };
      case 'response.output_text.delta':
        return { type: 'text', text: event.delta };
      case 'response.refusal.delta':
        this.refused = true;
        return { type: 'text', text: event.delta };
      case 'response.reasoning_summary_text.delta':
        return { type: 'reasoning', text: event.delta };
      case 'response.output_item.added':
        return this.start(this.withUniqueId(event.item, event.output_index));
      case 'response.function_call_arguments.delta':
        return this.extend(event.item_id, event.delta);
      case 'response.output_item.done':
        this.items.push(this.withUniqueId(event.item, event.output_index));
        return undefined;
      case 'response.completed':
      case 'response.incomplete':
        this.response = event.response;
        this.call.drain();
        return undefined;
      case 'response.failed':
        throw this.call.reported(event.response.error?.message ?? '', event.response.error?.code);
      case 'error':
        throw this.call.reported(event.message, event.code);
      default:
        return undefined;
    }
  }

  *close(): Generator<ModelEvent, void> {
    if (this.response === undefined) throw this.call.endedEarly();
    const calls = this.items.filter((item) => item.type === 'function_call');
    const reason = this.stopReason(this.response, calls.length > 0);
    // If the token limit cut the response off, the input of the last call may be incomplete.
    if (reason === 'tool_calls') {
      for (const { call_id: id, name, arguments: json } of calls)
        yield { type: 'tool_call', call: { id, name, ...toolInputOf(json) } };
    }
    const replayable =
      (reason === 'tool_calls' || reason === 'end') && this.items.some(({ type }) => type === 'reasoning');
    const data = { model: this.model, items: this.items.map(withObjectAsInput) };
    yield {
      type: 'stopped',
      reason,
      usage: usageOf(this.response),
      ...(replayable ? { state: { provider: 'openai-responses', data } } : {}),
    };
  }

  private withUniqueId(item: OutputItem, index: number): OutputItem {
    if (item.type !== 'function_call') return item;
    const key = `${index} ${item.call_id}`;
    const callId = this.uniqueIds.get(key) ?? this.ids.take(item.call_id);
    this.uniqueIds.set(key, callId);
    return { ...item, call_id: callId };
  }

  private start(item: OutputItem): ModelEvent | undefined {
    if (item.type !== 'function_call') return undefined;
    if (item.id !== undefined) this.callIds.set(item.id, item.call_id);
    return { type: 'tool_call_started', id: item.call_id, name: item.name };
  }

  private extend(itemId: string, delta: string): ModelEvent | undefined {
    const id = this.callIds.get(itemId);
    return id === undefined || delta === '' ? undefined : { type: 'tool_call_arguments', id, delta };
  }

  private stopReason(response: OpenAI.Responses.Response, hasCalls: boolean): StopReason {
    if (response.incomplete_details?.reason === 'content_filter') return 'refusal';
    if (response.status === 'incomplete') return 'max_tokens';
    if (hasCalls) return 'tool_calls';
    return this.refused ? 'refusal' : 'end';
  }
}

/** The API counts as `ModelUsage` does. Other servers with this API may leave out the details. */
function usageOf({ usage = {} }: { readonly usage?: Partial<OpenAI.Responses.ResponseUsage> }): ModelUsage {
  return {
    inputTokens: usage.input_tokens ?? null,
    outputTokens: usage.output_tokens ?? null,
    cachedInputTokens: usage.input_tokens_details?.cached_tokens ?? null,
    thinkingTokens: usage.output_tokens_details?.reasoning_tokens ?? null,
  };
}

/** Other servers with this API parse the arguments of earlier calls, and refuse anything but a JSON object. */
function withObjectAsInput(item: OutputItem): OutputItem {
  const isMalformed = item.type === 'function_call' && toolInputOf(item.arguments).malformedInput !== undefined;
  return isMalformed ? { ...item, arguments: '{}' } : item;
}
