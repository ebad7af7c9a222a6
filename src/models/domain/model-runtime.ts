import { z } from 'zod';
import { sent, type Stored } from '../../platform/stored-json/index.js';
import type { ModelAttachment, ModelMedia } from './model-attachment.js';
import type { ModelUsage } from './model-usage.js';

/** A JSON object as a model writes it or a schema describes it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A tool as the model is told about it. */
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
  /**
   * The text that the model wrote as arguments, truncated, when it is not a JSON object; absent otherwise. Such a call cannot be
   * made. Its `input` is `{}`, since providers accept only an object in later requests.
   */
  malformedInput: z.string().optional(),
});
export type ModelToolCall = Stored<typeof modelToolCall>;

/**
 * What a provider wants back unchanged with its own earlier answer (signed thinking, encrypted
 * reasoning). Opaque to everyone but the runtime of the provider that made it.
 */
const providerState = z.object({ provider: z.string(), data: z.unknown() });
export type ProviderState = Stored<typeof providerState>;

export const toolResult = z.object({
  role: z.literal('tool'),
  toolCallId: z.string(),
  toolName: z.string(),
  output: z.string(),
  isError: z.boolean().default(false),
  /** What the tool showed; `output` names each, for providers that cannot take it. */
  media: sent<readonly ModelMedia[]>().optional(),
});

/** One entry of the conversation as a model reads it, neutral of any provider. */
export const modelMessage = z.discriminatedUnion('role', [
  /** What the user attached comes before the text, which may be empty beside it. */
  z.object({
    role: z.literal('user'),
    text: z.string(),
    attachments: sent<readonly ModelAttachment[]>().optional(),
    /**
     * Set when the message is not the user's and stands within a reply, so that no new exchange begins with it. `true`: a hook
     * made the agent go on; `unreadable_call`: a note of the service after a tool call that cannot be read.
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

/**
 * An agent's settings of its provider; each provider has its own fields beside the type. Absent or null means the
 * provider's own default.
 */
export interface ProviderOptions {
  readonly type: string;
}

/** The format of an answer whose text is JSON, for the structured output of the providers. */
export interface ResponseFormat {
  /** 1 to 64 of `A-Z a-z 0-9 _ -`. */
  readonly name: string;
  /** A JSON Schema in which each object lists all its properties as required, and allows no others. */
  readonly schema: JsonObject;
}

/** A way to a provider other than its own address. */
export interface ModelRoute {
  /** Stands for the provider's own base address. */
  readonly baseUrl: string;
  /** Sent along with the provider's own. */
  readonly headers: Readonly<Record<string, string>>;
  /** What must not show in an error, should the other side quote it. */
  readonly secret: string;
}

/** What a runtime takes; `Options` are those of its provider. */
export interface RuntimeRequest<Options extends ProviderOptions = ProviderOptions> {
  /** An id of the catalogue. */
  readonly model: string;
  readonly options: Options;
  /** The agent's own key; absent means the operator's managed key. */
  readonly apiKey?: string;
  /** Taken by the runtimes of providers that a gateway carries; absent means the direct way. */
  readonly route?: ModelRoute;
  /** The whole system prompt; empty means none. */
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  /** Absent for free text. */
  readonly responseFormat?: ResponseFormat;
  /**
   * Asks for readable thinking, as `reasoning` events. Without it the providers' own default holds,
   * which for most models is to think without showing it.
   */
  readonly showReasoning?: boolean;
}

/** The provider's id of an answer, and the model that writes it; null for what the provider does not report. */
export interface ModelResponse {
  readonly id: string | null;
  readonly model: string | null;
}

export type StopReason = 'end' | 'tool_calls' | 'max_tokens' | 'refusal';

/**
 * What a model says, in the order it says it. `tool_call_started` and `tool_call_arguments` report
 * progress only: a call is real when `tool_call` arrives with its whole input. `provider_tool_call` and
 * `provider_tool_result` tell of tools that the provider runs itself: nobody else makes these calls, and what the model
 * has to read of them again is in the `ProviderState` alone. The last event of a call that did not throw is `stopped`.
 */
export type ModelEvent =
  /** Sent as soon as the provider identifies the answer. A call that the provider pauses has several; the last one counts. */
  | { readonly type: 'response'; readonly response: ModelResponse }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool_call_started'; readonly id: string; readonly name: string }
  | { readonly type: 'tool_call_arguments'; readonly id: string; readonly delta: string }
  | { readonly type: 'tool_call'; readonly call: ModelToolCall }
  /** The answer ends in a call whose tool is not known; `written` is what the provider reports of it, which may be empty. */
  | { readonly type: 'unreadable_call'; readonly written: string }
  | { readonly type: 'provider_tool_call'; readonly call: ModelToolCall }
  | {
      readonly type: 'provider_tool_result';
      /** Of the `provider_tool_call`. */
      readonly id: string;
      /** For people to read, and short of nothing that they may see. */
      readonly output: string;
      readonly isError: boolean;
    }
  /**
   * The counts so far of this call, as soon as the provider tells them: each replaces the one before, `stopped` has the
   * final ones. Where the call breaks off, the newest is what is known of it; what was not told yet is null.
   */
  | { readonly type: 'usage'; readonly usage: ModelUsage }
  | {
      readonly type: 'stopped';
      readonly reason: StopReason;
      readonly usage: ModelUsage;
      readonly state?: ProviderState;
    };

/**
 * One provider. A call either ends with `stopped` or throws a `ModelFailure`; aborting the signal
 * closes the provider's socket and makes the iteration throw the signal's reason.
 */
export interface ModelRuntime<Options extends ProviderOptions = ProviderOptions> {
  stream(request: RuntimeRequest<Options>, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
