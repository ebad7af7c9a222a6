import { z } from 'zod';
import { sent, type Stored } from '../../platform/stored-json/index.js';
import type { ModelAttachment, ModelMedia } from './model-attachment.js';
import type { ModelUsage } from './model-usage.js';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface ToolDefinition {
  /** 1 to 64 of `A-Z a-z 0-9 _ -`. */
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type `object`. */
  readonly inputSchema: JsonObject;
}

const modelToolCall = z.object({
  id: z.string(),
  name: z.string(),
  input: sent<JsonObject>(),
  /** Set if the arguments are not a JSON object: as the model wrote them, truncated. The call is not executed, and its `input` is `{}`. */
  malformedInput: z.string().optional(),
  /** The tool is the caller's: a later request may not offer it any more. */
  byCaller: z.literal(true).optional(),
});
export type ModelToolCall = Stored<typeof modelToolCall>;

/** Returned unchanged to the provider in later requests, such as signed thinking. Only the runtime of that provider reads it. */
const providerState = z.object({ provider: z.string(), data: z.unknown() });
export type ProviderState = Stored<typeof providerState>;

export const toolResult = z.object({
  role: z.literal('tool'),
  toolCallId: z.string(),
  toolName: z.string(),
  output: z.string(),
  isError: z.boolean().default(false),
  /** Media of the result. `output` names each, for providers that do not accept it. */
  media: sent<readonly ModelMedia[]>().optional(),
});

/** One message of the conversation, in the same form for all providers. */
export const modelMessage = z.discriminatedUnion('role', [
  /** Attachments come before the text, which may be empty if there are any. */
  z.object({
    role: z.literal('user'),
    text: z.string(),
    attachments: sent<readonly ModelAttachment[]>().optional(),
    /**
     * Set if the service wrote the message as part of a reply: `true` after a hook made the agent continue, the other for an answer
     * that cannot be used, such as one with an unreadable tool call or one that does not have the format asked for.
     */
    guidance: z.union([z.literal(true), z.literal('unreadable_call')]).optional(),
  }),
  z.object({
    role: z.literal('assistant'),
    text: z.string(),
    toolCalls: z.array(modelToolCall).default([]),
    state: providerState.optional(),
  }),
  toolResult,
]);
export type ModelMessage = Stored<typeof modelMessage>;
export type UserMessage = Extract<ModelMessage, { role: 'user' }>;
export type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>;
export type ToolMessage = Extract<ModelMessage, { role: 'tool' }>;

/** Each provider adds its own fields. Absent or null means the default of the provider. */
export interface ProviderOptions {
  readonly type: string;
}

/** What the text of a response must be, for the structured output of the providers. Nothing guarantees that it is. */
export const responseFormat = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('json_schema'),
    /** 1 to 64 of `A-Z a-z 0-9 _ -`. */
    name: z.string(),
    /** Any JSON Schema. */
    schema: sent<JsonObject>(),
    description: z.string().optional(),
    /**
     * The schema fits what OpenAI enforces: each object lists all its properties as required, and allows no others. Other
     * providers enforce what they can of any schema.
     */
    strict: z.boolean().default(false),
  }),
  /** Any JSON object. */
  z.object({ type: z.literal('json_object') }),
]);
export type ResponseFormat = Stored<typeof responseFormat>;

/** `required`: the model must call some tool. */
export type ToolChoice = { readonly type: 'required' } | { readonly type: 'tool'; readonly name: string };

export interface ModelRoute {
  /** Replaces the base URL of the provider. */
  readonly baseUrl: string;
  /** Sent in addition to the provider's headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** Must not appear in an error, even if the gateway quotes it. */
  readonly secret: string;
}

/** A request to a runtime; `Options` are those of its provider. */
export interface RuntimeRequest<Options extends ProviderOptions = ProviderOptions> {
  /** An id of the catalogue. */
  readonly model: string;
  readonly options: Options;
  /** The agent's own key; absent means the operator's managed key. */
  readonly apiKey?: string;
  /** Absent to call the provider directly. Only runtimes with a `gatewayPath` use it. */
  readonly route?: ModelRoute;
  /** The system prompt, as far as all conversations of the agent share it; empty for none. */
  readonly system: string;
  /** The rest of the system prompt, which comes after `system`; absent or empty for none. */
  readonly conversationSystem?: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  /** Absent if the model decides whether it calls tools. Ignored where the provider or the model cannot be made to. */
  readonly toolChoice?: ToolChoice;
  /** At most one call in a response, where the provider can be told so. */
  readonly oneCallAtATime?: boolean;
  /** Absent for free text. */
  readonly responseFormat?: ResponseFormat;
  /** No later request begins as this one does, so it is not worth what a provider charges for writing to its cache. */
  readonly isSingle?: boolean;
  /** Asks for readable thinking, as `reasoning` events. By default most models think without showing it. */
  readonly showReasoning?: boolean;
}

/** Both parts of the system prompt, for providers that cache the prefix of a request without marks. */
export function wholeSystem({ system, conversationSystem = '' }: RuntimeRequest): string {
  return [system, conversationSystem].filter((part) => part !== '').join('\n\n');
}

/** The provider's id of the response, and the model that it names; null for what the provider does not report. */
export interface ModelResponse {
  readonly id: string | null;
  readonly model: string | null;
}

export type StopReason = 'end' | 'tool_calls' | 'max_tokens' | 'refusal';

/**
 * The events of a model call, in order. `tool_call_started` and `tool_call_arguments` only report progress: the engine executes a
 * call when `tool_call` arrives with its whole input. `provider_tool_call` and `provider_tool_result` report tools that the provider
 * executes itself; what the model has to read of them in later requests is part of the `ProviderState`. The last event of a call that
 * does not throw is `stopped`.
 */
export type ModelEvent =
  /** Sent as soon as the provider identifies the response. A call that the provider pauses has several; the last one is valid. */
  | { readonly type: 'response'; readonly response: ModelResponse }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call_started'; readonly id: string; readonly name: string }
  | { readonly type: 'tool_call_arguments'; readonly id: string; readonly delta: string }
  | { readonly type: 'tool_call'; readonly call: ModelToolCall }
  /** The response ends in a call without a readable tool name. `written` is what the provider reports of it, possibly nothing. */
  | { readonly type: 'unreadable_call'; readonly written: string }
  | { readonly type: 'provider_tool_call'; readonly call: ModelToolCall }
  | {
      readonly type: 'provider_tool_result';
      /** Of the `provider_tool_call`. */
      readonly id: string;
      /** For people: everything of the result that they may see. */
      readonly output: string;
      readonly isError: boolean;
    }
  /** The token counts so far; each replaces the one before. The last is all that is known of a call that breaks off. Null: not reported yet. */
  | { readonly type: 'usage'; readonly usage: ModelUsage }
  | {
      readonly type: 'stopped';
      readonly reason: StopReason;
      readonly usage: ModelUsage;
      readonly state?: ProviderState;
    };

/** A call ends with `stopped`, or throws a `ModelFailure` or the reason of the signal. An abort closes the socket to the provider. */
export interface ModelRuntime<Options extends ProviderOptions = ProviderOptions> {
  stream(request: RuntimeRequest<Options>, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
