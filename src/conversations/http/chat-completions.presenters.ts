import type { Run, StreamError } from '../domain/run.js';
import type { EndedRun } from '../engine/persist-run.js';
import type {
  ChatCompletionChunkResponse,
  ChatCompletionResponse,
  ChunkChoiceResponse,
  CompletionDeltaResponse,
  CompletionFields,
  CompletionToolCallResponse,
  CompletionUsageResponse,
  FinishReason,
  StreamErrorResponse,
} from './chat-completions.dto.js';

export function completionFields(run: {
  readonly runId: string;
  readonly agentId: string;
  readonly threadId: string;
}): CompletionFields {
  return { id: `chatcmpl-${run.runId}`, created: secondsOf(run.runId), model: run.agentId, thread_id: run.threadId };
}

/** The time in a UUID of version 7: its first 48 bits are milliseconds since 1970. */
function secondsOf(id: string): number {
  return Math.floor(Number.parseInt(id.replace('-', '').slice(0, 12), 16) / 1_000);
}

/** @param isDocument the reply has a response format: a part of a document is not answered */
export function completion(
  { id, created, model, thread_id }: CompletionFields,
  ended: EndedRun,
  isDocument: boolean,
): ChatCompletionResponse {
  const usage = usageOf(ended.run);
  const calls = toolCallsOf(ended.run);
  const text = (isDocument && ended.run.status === 'cancelled' ? undefined : ended.message?.content) ?? '';
  const content = text === '' && calls.length > 0 ? null : text;
  const message = {
    ...({ role: 'assistant', content, refusal: null } as const),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(ended.run) }],
    ...(usage === null ? {} : { usage }),
    thread_id,
  };
}

/** Makes `chat.completion.chunk` events. With `includeUsage` the usage of all but the last is null. */
export class Chunks {
  constructor(
    private readonly fields: CompletionFields,
    private readonly includeUsage: boolean,
  ) {}

  first(): ChatCompletionChunkResponse {
    return this.chunk({ role: 'assistant', content: '', refusal: null }, null);
  }

  text(content: string): ChatCompletionChunkResponse {
    return this.chunk({ content }, null);
  }

  /** The last chunks of a run that did not fail. */
  end({ run }: EndedRun): ChatCompletionChunkResponse[] {
    const usage = this.includeUsage ? usageOf(run) : null;
    const calls = toolCallsOf(run).map(({ id, type, function: called }, index) => ({
      index,
      id,
      type,
      function: called,
    }));
    return [
      ...(calls.length > 0 ? [this.chunk({ tool_calls: calls }, null)] : []),
      this.chunk({}, finishReason(run)),
      ...(usage === null ? [] : [this.object([], usage)]),
    ];
  }

  private chunk(delta: CompletionDeltaResponse, finish_reason: FinishReason | null): ChatCompletionChunkResponse {
    return this.object([{ index: 0, delta, logprobs: null, finish_reason }], null);
  }

  private object(
    choices: readonly ChunkChoiceResponse[],
    usage: CompletionUsageResponse | null,
  ): ChatCompletionChunkResponse {
    const { id, created, model, thread_id } = this.fields;
    const object = 'chat.completion.chunk' as const;
    return { id, object, created, model, choices, ...(this.includeUsage ? { usage } : {}), thread_id };
  }
}

export function errorChunk({ code, message }: StreamError): StreamErrorResponse {
  return { error: { message, type: errorType(code), code } };
}

/** The kinds of error that clients of the OpenAI API tell apart. */
function errorType(code: StreamError['code']): string {
  switch (code) {
    case 'context_too_long':
    case 'run_limit_reached':
    case 'invalid_structured_output':
    case 'invalid_response_format':
      return 'invalid_request_error';
    case 'provider_rate_limited':
      return 'rate_limit_error';
    case 'provider_error':
    case 'provider_auth':
    case 'provider_overloaded':
    case 'run_timeout':
    case 'server_shutdown':
    case 'internal':
    case 'run_events_unavailable':
      return 'server_error';
    default:
      return code satisfies never;
  }
}

function toolCallsOf({ approvals }: Run): CompletionToolCallResponse[] {
  return approvals
    .filter(({ kind }) => kind === 'client_call')
    .map(({ toolCallId: id, tool: name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }));
}

function finishReason({ status, stopReason }: Run): FinishReason {
  if (status === 'requires_action') return 'tool_calls';
  if (status === 'cancelled' || stopReason === 'max_tokens') return 'length';
  return stopReason === 'refusal' ? 'content_filter' : 'stop';
}

function usageOf({ usage }: Run): CompletionUsageResponse | null {
  const { inputTokens, outputTokens, totalTokens, cachedInputTokens } = usage;
  if (inputTokens === null || outputTokens === null || totalTokens === null) return null;
  return {
    ...{ prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: totalTokens },
    ...(cachedInputTokens === null ? {} : { prompt_tokens_details: { cached_tokens: cachedInputTokens } }),
  };
}
