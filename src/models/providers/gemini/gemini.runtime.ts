import { ApiError, FinishReason, GoogleGenAI, type GenerateContentResponse, type Part } from '@google/genai';
import type { Clock } from '../../../platform/clock/index.js';
import { newId } from '../../../platform/ids/index.js';
import type {
  ModelEvent,
  ModelRuntime,
  ModelToolCall,
  RuntimeRequest,
  StopReason,
} from '../../domain/model-runtime.js';
import { isJsonObject, isNestedTooDeeply } from '../../domain/json-object.js';
import { UNKNOWN_USAGE } from '../../domain/model-usage.js';
import { ClientCache, type ProviderAccess, ProviderCall } from '../shared/provider-call.js';
import { untilDrained } from '../shared/server-sent-events.js';
import { malformed, type ToolInput, UniqueIds } from '../shared/tool-calls.js';
import type { ModelTransport } from '../shared/transport.js';
import { geminiRequest, LOCAL_ID_PREFIX } from './gemini.request.js';

export class GeminiRuntime implements ModelRuntime {
  private readonly clients: ClientCache<GoogleGenAI>;

  constructor(
    private readonly access: ProviderAccess,
    transport: ModelTransport,
    private readonly clock: Clock,
  ) {
    this.clients = new ClientCache(
      (apiKey) =>
        new GoogleGenAI({
          apiKey,
          // The SDK would read absent values from the environment.
          vertexai: false,
          apiVersion: 'v1beta',
          httpOptions: {
            baseUrl: access.baseUrl ?? 'https://generativelanguage.googleapis.com',
            fetch: transport.fetch,
          },
        }),
    );
  }

  async *stream(request: RuntimeRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const call = new ProviderCall(request, this.access, signal, this.clock);
    try {
      const { models } = this.clients.get(call.key);
      const chunks = await models.generateContentStream(geminiRequest(request, call.signal));
      const answer = new Answer(request.model, call);
      for await (const chunk of untilDrained(chunks, call)) yield* answer.take(chunk);
      yield* answer.close();
    } catch (error) {
      throw call.failure(error instanceof ApiError ? call.reported(error.message) : error);
    } finally {
      call.close();
    }
  }
}

function isPlainText(part: Part): part is Part & { text: string } {
  return part.text !== undefined && part.thoughtSignature === undefined;
}

/** The model tried to call a tool, but the API could not parse the call. */
const UNREADABLE_CALL: ReadonlySet<FinishReason> = new Set([
  FinishReason.MALFORMED_FUNCTION_CALL,
  FinishReason.UNEXPECTED_TOOL_CALL,
]);

/** @param args any JSON value: the SDK does not check it */
function inputOf(args: unknown): ToolInput {
  if (args === undefined) return { input: {} };
  // Too deep to be written as JSON.
  if (isNestedTooDeeply(args)) return malformed('Objects or arrays that are nested too deeply.');
  return isJsonObject(args) ? { input: args } : malformed(JSON.stringify(args));
}

/** The part with an object as arguments, which later requests need. */
function withObjectAsInput({ functionCall, ...part }: Part): Part {
  return functionCall
    ? { ...part, functionCall: { ...functionCall, args: { ...inputOf(functionCall.args).input } } }
    : part;
}

/** The received part of one response. It keeps the parts, because later requests must return their signatures unchanged. */
class Answer {
  private readonly parts: Part[] = [];
  private readonly calls: ModelToolCall[] = [];
  private readonly ids = new UniqueIds();
  private signed = false;
  private finish: FinishReason | undefined;
  private finishMessage = '';
  private blocked = false;
  private identified = false;
  private usage = UNKNOWN_USAGE;

  constructor(
    private readonly model: string,
    private readonly call: ProviderCall,
  ) {}

  *take(chunk: GenerateContentResponse): Generator<ModelEvent, void> {
    const candidate = chunk.candidates?.[0];
    if (!this.identified && (chunk.responseId ?? chunk.modelVersion) !== undefined) {
      this.identified = true;
      yield { type: 'response', response: { id: chunk.responseId ?? null, model: chunk.modelVersion ?? null } };
    }
    // Before the parts, so that a reader that leaves at a part knows the usage.
    if (this.countTokens(chunk.usageMetadata)) yield { type: 'usage', usage: this.usage };
    for (const part of candidate?.content?.parts ?? []) {
      // Before `keep`, because it may change the id of a call, and later requests need the changed id.
      const event = this.toEvent(part);
      this.keep(part);
      if (event !== undefined) yield event;
    }
    this.blocked ||= chunk.promptFeedback?.blockReason !== undefined;
    this.finish = candidate?.finishReason ?? this.finish;
    this.finishMessage = candidate?.finishMessage ?? this.finishMessage;
    if (this.finish !== undefined || this.blocked) this.call.drain();
  }

  *close(): Generator<ModelEvent, void> {
    const isUnreadable = this.finish !== undefined && UNREADABLE_CALL.has(this.finish);
    if (isUnreadable) yield { type: 'unreadable_call', written: malformed(this.finishMessage).malformedInput };
    const reason = this.blocked ? 'refusal' : this.stopReason();
    if (reason === 'tool_calls') {
      for (const call of this.calls) yield { type: 'tool_call', call };
    }
    const replayable = this.signed && !isUnreadable && (reason === 'tool_calls' || reason === 'end');
    yield {
      type: 'stopped',
      reason,
      usage: this.usage,
      ...(replayable ? { state: { provider: 'gemini', data: { model: this.model, parts: this.parts } } } : {}),
    };
  }

  /** Joins consecutive plain texts. Leaves out thoughts: later requests need only the signatures. */
  private keep(part: Part): void {
    this.signed ||= part.thoughtSignature !== undefined;
    if (part.thought === true) return;
    const last = this.parts.at(-1);
    if (isPlainText(part) && last !== undefined && isPlainText(last)) last.text += part.text;
    else this.parts.push(withObjectAsInput(part));
  }

  private toEvent(part: Part): ModelEvent | undefined {
    if (part.functionCall !== undefined) {
      const { id: given, name, args } = part.functionCall;
      const id = given === undefined ? `${LOCAL_ID_PREFIX}${newId()}` : this.ids.take(given);
      if (given !== undefined) part.functionCall.id = id;
      if (name === undefined) throw this.call.broken('a tool call without a name');
      this.calls.push({ id, name, ...inputOf(args) });
      return { type: 'tool_call_started', id, name };
    }
    if (part.text === undefined || part.text === '') return undefined;
    return { type: part.thought === true ? 'reasoning' : 'text', text: part.text };
  }

  /** Cached tokens are part of the prompt; thoughts are not part of the candidates. @returns whether the chunk has counts */
  private countTokens(usage: GenerateContentResponse['usageMetadata']): boolean {
    const { promptTokenCount: prompt, candidatesTokenCount: written, thoughtsTokenCount: thought } = usage ?? {};
    if (prompt !== undefined) {
      const inputTokens = prompt + (usage?.toolUsePromptTokenCount ?? 0);
      this.usage = { ...this.usage, inputTokens, cachedInputTokens: usage?.cachedContentTokenCount ?? null };
    }
    if (written !== undefined || thought !== undefined) {
      const outputTokens = (written ?? 0) + (thought ?? 0);
      this.usage = { ...this.usage, outputTokens, thinkingTokens: thought ?? null };
    }
    return prompt !== undefined || written !== undefined || thought !== undefined;
  }

  private stopReason(): StopReason {
    // Other servers with this API report this value; Google reports STOP.
    if ((this.finish as string | undefined) === 'FUNCTION_CALL') return 'tool_calls';
    switch (this.finish) {
      case undefined:
        throw this.call.endedEarly();
      case FinishReason.STOP:
        return this.calls.length > 0 ? 'tool_calls' : 'end';
      case FinishReason.MALFORMED_FUNCTION_CALL:
      case FinishReason.UNEXPECTED_TOOL_CALL:
        return 'end';
      case FinishReason.MAX_TOKENS:
        return 'max_tokens';
      case FinishReason.SAFETY:
      case FinishReason.RECITATION:
      case FinishReason.LANGUAGE:
      case FinishReason.BLOCKLIST:
      case FinishReason.PROHIBITED_CONTENT:
      case FinishReason.SPII:
      case FinishReason.IMAGE_SAFETY:
      case FinishReason.IMAGE_PROHIBITED_CONTENT:
      case FinishReason.IMAGE_RECITATION:
        return 'refusal';
      default:
        throw this.call.broken(`the response ended with ${this.finish}`);
    }
  }
}
